// The secrets of a connection that are known: they are masked in everything that the page sees.

import { isSecretName } from '../../../protocol/secrets/is-secret-name.js';
import { partsOf } from '../../../protocol/secrets/values.js';
import type { TargetSpec } from '../../contract/connection.js';
import type { OpenedTarget } from '../../contract/options.js';
import { givenHeaders } from './given-headers.js';

/** The token, the headers and the variables that were given. */
export function secretsOf(opened: OpenedTarget, spec: TargetSpec): readonly string[] {
  const { options, target } = opened;
  const env = typeof target === 'object' && 'command' in target ? Object.entries(target.env ?? {}) : [];
  return [
    spec.token ?? '',
    typeof options.auth === 'string' ? options.auth : '',
    ...[...Object.entries(spec.env ?? {}), ...env, ...givenHeaders(opened, spec)].flatMap(([name, value]) =>
      typeof value === 'string' && isSecretName(name)
        ? [value.replace(/^(?:bearer|basic) /i, ''), ...partsOf(value)]
        : [],
    ),
  ].filter((secret) => secret !== '');
}
