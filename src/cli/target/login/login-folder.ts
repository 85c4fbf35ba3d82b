// Where the command keeps its logins and what it remembers, and for which addresses it has logins.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { resolveTarget, type Target } from '../../../connect/targets/target.js';
import { isLoopbackUrl } from '../../../oauth/fetch/check-url.js';
import { serverOf, withoutCredentials } from '../../../transports/http/client/target.js';

/** The folder: FULLMCP_HOME, or `fullmcp` in the user's folder for settings. */
export function loginFolder(): string {
  const { FULLMCP_HOME, XDG_CONFIG_HOME } = process.env;
  return FULLMCP_HOME || join(XDG_CONFIG_HOME || join(homedir(), '.config'), 'fullmcp');
}

/** The folder for what is remembered between commands: FULLMCP_HOME, or `fullmcp` in the user's folder for state. */
export function stateFolder(): string {
  const { FULLMCP_HOME, XDG_STATE_HOME } = process.env;
  return FULLMCP_HOME || join(XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'fullmcp');
}

/** Whether there can be a login at all: most users have none, and nothing is loaded for them. */
export function hasLogins(): boolean {
  return existsSync(join(loginFolder(), 'tokens'));
}

/** The URL that the login of a target belongs to; undefined if the target cannot have one. Tokens never go over http to another computer. */
export function loginServer(target: Target): string | undefined {
  const resolved = resolveTarget(target);
  if (resolved.kind !== 'http' && resolved.kind !== 'websocket') return undefined;
  const { url } = resolved;
  if (!/^(?:https|wss):$/.test(url.protocol) && !isLoopbackUrl(url)) return undefined;
  return serverOf(withoutCredentials(url));
}
