// What to do about a server that refuses the credentials of a command, in the words of the command.

import process from 'node:process';
import { lazySafeFetch } from '../../adapters/node/fetch/lazy-safe-fetch.js';
import type { ConnectOptions } from '../../connect/targets/options.js';
import type { Target } from '../../connect/targets/target.js';
import { isObject } from '../../jsonrpc/message.js';
import { discoverAuthorizationServer } from '../../oauth/documents/authorization-server.js';
import { discoverProtectedResource } from '../../oauth/documents/protected-resource.js';
import { isLoopbackUrl } from '../../oauth/fetch/check-url.js';
import { McpError } from '../../protocol/errors.js';
import { cleanLine } from '../../tooling/clean.js';
import type { Typed } from '../command/definition.js';
import { loginServer } from './login/login-folder.js';
import type { TypedTarget } from './read-target.js';

const DISCOVERY_MS = 5000;

/** The error of a connection, with what to type if the server refuses the credentials. Other errors stay as they are. */
export async function withAdvice(
  error: unknown,
  input: Typed,
  { target, options }: { readonly target: TypedTarget; readonly options: ConnectOptions },
): Promise<unknown> {
  const refusal = refusalOf(error);
  if (refusal === undefined) return error;
  const { status, reason, challenge } = refusal;
  const { typed } = target;
  const because = reason === undefined ? '' : `: ${cleanLine(reason, 300).replace(/\.$/, '')}`;
  const explain = (message: string): McpError =>
    new McpError(status === 401 ? 'unauthorized' : 'forbidden', message, {
      data: (error as McpError).data,
      cause: error,
    });
  if (status === 403) {
    // The server's reason is all that can be said.
    if (reason !== undefined) return error;
    return explain(
      `${typed} answered 403. ${given(input, target)?.what ?? 'A caller without credentials'} may not do this, or the server refuses this host.`,
    );
  }
  const credentials = given(input, target);
  if (credentials !== undefined)
    return explain(`${typed} refused ${credentials.what} (401)${because}. ${credentials.advice}`);
  const server = loginServer(target.target);
  if (server !== undefined && (await hasLogin(server, challenge, input.signal))) {
    const isOld = options.auth !== undefined;
    const says = isOld && because !== '' ? `refused the login (401)${because}` : 'asks for a login';
    return explain(`${typed} ${says}. Log in with: fullmcp auth login ${typed}`);
  }
  // An address of a file gets no token of the environment.
  const where = target.own === undefined ? '--token or MCP_TOKEN' : '--token';
  return explain(
    `${typed} requires authentication (401)${because}. Pass a token with ${where}, or a key with --header "Name: value".`,
  );
}

interface RefusalData {
  readonly status: 401 | 403;
  readonly reason: string | undefined;
  readonly challenge: string | undefined;
}

function refusalOf(error: unknown): RefusalData | undefined {
  if (!McpError.is(error) || !isObject(error.data)) return undefined;
  const { status, reason, wwwAuthenticate } = error.data;
  if (!('wwwAuthenticate' in error.data) || (status !== 401 && status !== 403)) return undefined;
  return {
    status,
    reason: typeof reason === 'string' ? reason : undefined,
    challenge: typeof wwwAuthenticate === 'string' ? wwwAuthenticate : undefined,
  };
}

/** The credentials that the command has sent, and where to change them; undefined if it had none, or those of a login. */
function given(
  input: Typed,
  { own, target }: TypedTarget,
): { readonly what: string; readonly advice: string } | undefined {
  if (input.text('token') !== undefined) return { what: 'the token of --token', advice: 'Check the token.' };
  if (own?.auth !== undefined || (own !== undefined && hasHeaders(target)))
    return {
      what: 'the credentials of its configuration',
      advice: 'Check them there, or pass a token with --token.',
    };
  if (input.texts('header').length > 0)
    return { what: 'the headers of --header', advice: 'Check them, or pass a token with --token.' };
  if (own === undefined && process.env['MCP_TOKEN'])
    return { what: 'the token of MCP_TOKEN', advice: 'Check the variable, or pass another with --token.' };
  return undefined;
}

function hasHeaders(target: Target): boolean {
  return typeof target === 'object' && 'headers' in target && Object.keys(target.headers ?? {}).length > 0;
}

/** Whether a server says who logs its users in. A server with API keys does not. */
export async function hasLogin(
  server: string,
  challenge: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  if (challenge?.includes('resource_metadata')) return true;
  const url = new URL(server);
  const options = () => ({
    fetch: lazySafeFetch({}),
    loopback: isLoopbackUrl(url) ? ('allow' as const) : ('refuse' as const),
    signal: AbortSignal.any([signal, AbortSignal.timeout(DISCOVERY_MS)]),
  });
  const found = await Promise.allSettled([
    discoverProtectedResource(server, options()),
    // Servers before 2025-06-18 are their own authorization servers.
    discoverAuthorizationServer(url.origin, options()),
  ]);
  return found.some(({ status }) => status === 'fulfilled');
}
