import process from 'node:process';

/** The secret that the environment gives to a process, if it does. */
export function environmentSecret(): string | undefined {
  return process.env['MCP_SECRET'] || undefined;
}
