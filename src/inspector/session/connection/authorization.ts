// How a connection is authorized: by what was given with it, or by a login.

import type { ConnectOptions } from '../../../connect/targets/options.js';
import type { TokenStore } from '../../../oauth/client/store/token-store.js';
import type { AuthView, TargetSpec } from '../../contract/connection.js';
import type { OpenedTarget } from '../../contract/options.js';
import { Login, loginServer } from '../login/login.js';
import { viewOfToken } from '../login/token-view.js';

export interface ConnectionAuth {
  readonly login: Login | undefined;
  /** The part of the options of `connect`. */
  readonly options: Pick<ConnectOptions, 'auth'>;
  readonly view: () => AuthView;
}

/** Chooses the way. A token or a header that was given is used alone. */
export function authorizationOf(
  { target, options }: OpenedTarget,
  { token, headers }: TargetSpec,
  { store, onChange }: { readonly store: TokenStore; readonly onChange: () => void },
): ConnectionAuth {
  const { auth = token } = options;
  const given = typeof auth === 'string' ? auth : (headerIn(headers) ?? headerIn(options.headers));
  if (given !== undefined || auth !== undefined) {
    const view: AuthView = {
      state: 'token',
      hops: [],
      ...(given !== undefined && { token: viewOfToken(given.replace(/^bearer /i, '')) }),
    };
    return { login: undefined, options: auth === undefined ? {} : { auth }, view: () => view };
  }
  const server = loginServer(target);
  if (server === undefined)
    return { login: undefined, options: {}, view: () => ({ state: 'none', hops: [] }) };
  const login = new Login({ server, store, onChange });
  return { login, options: { auth: login.auth }, view: () => login.view };
}

function headerIn(headers: unknown): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const pairs: readonly unknown[] =
    headers instanceof Headers ? [...headers] : Array.isArray(headers) ? headers : Object.entries(headers);
  for (const pair of pairs) {
    const [name, value] = Array.isArray(pair) ? pair : [];
    if (typeof name === 'string' && name.toLowerCase() === 'authorization') return String(value);
  }
  return undefined;
}
