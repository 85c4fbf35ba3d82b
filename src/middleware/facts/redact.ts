// Copies values for logs: without secrets, and never larger than a limit, whatever a peer sends.

import { fillDefaults } from '../../protocol/checks/options.js';
import { copyWithoutSecrets, readPaths } from '../../protocol/secrets/copy.js';
import { plainName, secretNames } from '../../protocol/secrets/is-secret-name.js';
import { hideRecognized } from '../../protocol/secrets/recognized.js';
import { REDACTED } from '../../protocol/secrets/text.js';

/** The options of `redactor`. */
export interface RedactOptions {
  /**
   * Secrets besides those with well-known names. A name (`'pin'`) stands for every field with that name, in any case, with or
   * without `_` and `-`. A path (`'arguments.card.number'`, `'items.*.code'`) stands for one place; `*` is any field or index. A field
   * whose name has a dot needs an array: `['a.b', 'c']`.
   */
  readonly redact?: readonly (string | readonly string[])[] | undefined;
  /** The longest string; the rest of a longer one is cut off. Default: 1000 characters. */
  readonly maxString?: number | undefined;
  /** The deepest nesting of objects and arrays. Default: 10. */
  readonly maxDepth?: number | undefined;
  /** The size of the whole copy, in characters. Default: 10,000. */
  readonly maxChars?: number | undefined;
}

/** The table of `RedactOptions`. */
export const redactTable = {
  redact: 'array',
  maxString: { is: 'count', default: 1000 },
  maxDepth: { is: 'count', default: 10 },
  maxChars: { is: 'count', default: 10_000 },
} as const;

/** Copies a value without its secrets, within the limits. The copy is plain JSON. */
export type Redactor = (value: unknown) => unknown;

/** Makes a function that copies values without their secrets. */
export function redactor(options: RedactOptions = {}): Redactor {
  const { redact = [], ...limits } = fillDefaults(options, redactTable);
  const own = redact.filter((one) => typeof one === 'string').filter((name) => !name.includes('.'));
  return copyWithoutSecrets({
    isSecretName: secretNames(own),
    hide: () => REDACTED,
    text: hideRecognized(own.map(plainName)),
    paths: readPaths(redact),
    limits,
  });
}
