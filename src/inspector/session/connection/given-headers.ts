import type { HeaderValues } from '../../../transports/http/client/options.js';
import type { TargetSpec } from '../../contract/connection.js';
import type { OpenedTarget } from '../../contract/options.js';

type Pair = readonly [name: string, value: string];

/** The headers that were given with a target, in the page, in its options, or in a configuration. Their names are lowercase. */
export function givenHeaders({ options, target }: OpenedTarget, spec: TargetSpec): readonly Pair[] {
  const own = isAddress(target) ? target.headers : undefined;
  const shared = typeof options.headers === 'function' ? undefined : options.headers;
  return [spec.headers, shared, own].flatMap(pairsOf);
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
