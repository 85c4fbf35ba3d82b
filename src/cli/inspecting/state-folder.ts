// Where the inspector keeps what it remembers of earlier visits.

import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/** The folder: FULLMCP_HOME, or `fullmcp` in the user's folder for state. */
export function stateFolder(): string {
  const { FULLMCP_HOME, XDG_STATE_HOME } = process.env;
  return FULLMCP_HOME || join(XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'fullmcp');
}
