import type { HttpLinkOptions } from '../../transports/http/client/options.js';
import type { ServerEntry, Target } from '../targets/target.js';
import { isHostLogin } from './check.js';

/** The target that an entry of a config stands for, and the options that only this server has. */
export function entryTarget(entry: ServerEntry): {
  readonly target: Target;
  readonly options: Pick<HttpLinkOptions, 'auth' | 'ca' | 'cert' | 'key'>;
} {
  if ('target' in entry) return { target: entry.target, options: {} };
  if ('command' in entry) {
    const { command, args, env, cwd } = entry;
    const optional = { ...(args && { args }), ...(env && { env }), ...(cwd !== undefined && { cwd }) };
    return { target: { command, ...optional }, options: {} };
  }
  const { url, headers, auth, ca, cert, key } = entry;
  const own = Object.entries({ auth: isHostLogin(auth) ? undefined : auth, ca, cert, key }).filter(
    ([, value]) => value !== undefined,
  );
  return { target: { url, ...(headers && { headers }) }, options: Object.fromEntries(own) };
}
