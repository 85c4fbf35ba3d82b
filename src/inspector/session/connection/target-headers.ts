// The headers and the secrets that were typed, or configured, for a connection.

import { isSecretName } from '../../../protocol/secrets/is-secret-name.js';
import { partsOf } from '../../../protocol/secrets/values.js';
import type { HeaderValues } from '../../../transports/http/client/options.js';
import type { TargetSpec } from '../../contract/connection.js';
import type { OpenedTarget } from '../../contract/options.js';

type Pair = readonly [name: string, value: string];

/** The headers of a target, from the page, from its options or from a configuration. Their names are lowercase. */
export function targetHeaders({ options, target }: OpenedTarget, spec: TargetSpec): readonly Pair[] {
  const own = isAddress(target) ? target.headers : undefined;
  const shared = typeof options.headers === 'function' ? undefined : options.headers;
  return [spec.headers, shared, own].flatMap(pairsOf);
}

/** The token, and the headers and variables that are secrets: they are masked in everything that the page sees. */
export function secretsOf(opened: OpenedTarget, spec: TargetSpec): readonly string[] {
  const { options, target } = opened;
  const env = typeof target === 'object' && 'command' in target ? Object.entries(target.env ?? {}) : [];
  return [
    spec.token ?? '',
    typeof options.auth === 'string' ? options.auth : '',
    ...[...Object.entries(spec.env ?? {}), ...env, ...targetHeaders(opened, spec)].flatMap(([name, value]) =>
      typeof value === 'string' && isSecretName(name)
        ? [value.replace(/^(?:bearer|basic) /i, ''), ...partsOf(value)]
        : [],
    ),
  ].filter((secret) => secret !== '');
}

function isAddress(target: OpenedTarget['target']): target is { url: string | URL; headers?: HeaderValues } {
  return typeof target === 'object' && !(target instanceof URL) && 'url' in target;
}

function pairsOf(headers: HeaderValues = {}): readonly Pair[] {
  const pairs =
    headers instanceof Headers || Array.isArray(headers)
      ? [...(headers as Iterable<Pair>)]
      : Object.entries(headers as Readonly<Record<string, string>>);
  return pairs.map(([name, value]) => [name.toLowerCase(), value]);
}
