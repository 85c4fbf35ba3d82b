// Messages for the operator of a server.

/** Receives messages for the operator of the server. Clients do not see them; `ctx.log` is for clients. */
export type Logger = (level: 'info' | 'warning' | 'error', message: string, detail?: unknown) => void;

/** Writes to standard error, the only stream that the stdio transport leaves free. */
export function logToConsole(level: 'info' | 'warning' | 'error', message: string, detail?: unknown): void {
  const line = `[fullmcp] ${level}: ${message}`;
  if (detail === undefined) console.error(line);
  else console.error(line, detail);
}
