/** Receives messages for the operator of the server. Clients do not see them; `ctx.log` is for clients. */
export type Log = (level: 'info' | 'warning' | 'error', message: string, detail?: unknown) => void;

/** Writes to the error console, which on stdio is the one stream that is free. */
export function logToConsole(level: 'info' | 'warning' | 'error', message: string, detail?: unknown): void {
  const line = `[fullmcp] ${level}: ${message}`;
  if (detail === undefined) console.error(line);
  else console.error(line, detail);
}
