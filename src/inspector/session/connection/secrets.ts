// The secrets of a connection that are known: they are masked in everything that the page sees.

import type { TargetSpec } from '../../contract/connection.js';
import type { OpenedTarget } from '../../contract/options.js';
import { isSecretName } from '../../wiretap/mask.js';

/** The token, the headers and the variables that were given. */
export function secretsOf({ options, target }: OpenedTarget, spec: TargetSpec): readonly string[] {
  const env = typeof target === 'object' && 'command' in target ? Object.entries(target.env ?? {}) : [];
  const headers = [
    ...Object.entries(spec.headers ?? {}),
    ...Object.entries(isPlain(options.headers) ? options.headers : {}),
  ];
  return [
    spec.token ?? '',
    typeof options.auth === 'string' ? options.auth : '',
    ...[...Object.entries(spec.env ?? {}), ...env, ...headers].flatMap(([name, value]) =>
      typeof value === 'string' && isSecretName(name) ? [value.replace(/^(?:bearer|basic) /i, '')] : [],
    ),
  ].filter((secret) => secret !== '');
}

function isPlain(headers: unknown): headers is Readonly<Record<string, string>> {
  return (
    typeof headers === 'object' &&
    headers !== null &&
    !Array.isArray(headers) &&
    !(headers instanceof Headers)
  );
}
