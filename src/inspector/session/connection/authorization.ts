// How a connection is authorized: by what was given with it, or by a login.

import type { ConnectOptions } from '../../../connect/targets/options.js';
import type { AuthView, TargetSpec } from '../../contract/connection.js';
import type { OpenedTarget } from '../../contract/options.js';
import { Login, type LoginParts, loginServer } from '../login/login.js';
import { viewOfToken } from '../login/token-view.js';
import { targetHeaders } from './target-headers.js';

export interface ConnectionAuth {
  readonly login: Login | undefined;
  /** The part of the options of `connect`. */
  readonly options: Pick<ConnectOptions, 'auth'>;
  readonly view: () => AuthView;
}

/** Chooses the way. A token or a header that was given is used alone. */
export function authorizationOf(
  opened: OpenedTarget,
  spec: TargetSpec,
  parts: Pick<LoginParts, 'store' | 'onChange' | 'onSecret'>,
): ConnectionAuth {
  const { target, options } = opened;
  const { auth = spec.token } = options;
  const [, header] = targetHeaders(opened, spec).findLast(([name]) => name === 'authorization') ?? [];
  const given = typeof auth === 'string' ? auth : header;
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
  const login = new Login({ server, ...parts });
  return { login, options: { auth: login.auth }, view: () => login.view };
}
