import type { Call } from '../../protocol/call.js';
import type { HeaderValues } from '../../transports/http/client/options.js';
import type { ConnectOptions } from '../targets/options.js';
import type { ForwardedIdentity, Identified, Identity, LoginProgress } from './options.js';

/** The credentials for a call; undefined for those of the proxy itself. */
export function identityOf(
  identity: Identity,
  call: Call,
  progress: LoginProgress,
): Identified | Promise<Identified> {
  if (identity === 'drop') return undefined;
  if (identity !== 'pass') return identity(call, progress);
  const authorization = call.http?.header('authorization');
  if (authorization === undefined && call.auth === undefined) return undefined;
  return {
    key: `pass ${authorization ?? ''}`,
    headers: authorization === undefined ? undefined : { authorization },
    caller: call.auth,
  };
}

/** The options of connections with somebody's credentials. Those of the proxy must not be sent with them. */
export function withIdentity(
  options: ConnectOptions,
  { headers: own, auth: ownAuth, caller }: ForwardedIdentity,
): ConnectOptions {
  const { auth, headers: shared, ...rest } = options;
  const headers = async (): Promise<[string, string][]> => {
    const ownPairs = toPairs(own);
    const names = new Set(ownPairs.map(([name]) => name.toLowerCase()));
    if (ownAuth !== undefined) names.add('authorization');
    const sharedPairs = toPairs(typeof shared === 'function' ? await shared() : shared);
    return [...sharedPairs.filter(([name]) => !names.has(name.toLowerCase())), ...ownPairs];
  };
  return { ...rest, headers, ...(ownAuth && { auth: ownAuth }), ...(caller && { caller }) };
}

function toPairs(headers: HeaderValues = {}): [string, string][] {
  return [...new Headers(headers as HeadersInit)];
}
