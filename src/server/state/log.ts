// Messages for the operator of a server.

/** Receives messages for the operator of the server. Clients do not see them; `ctx.log` is for clients. */
export type Logger = (level: 'info' | 'warning' | 'error', message: string, detail?: unknown) => void;
