// Tells by its name whether a field, a header, a parameter or a variable is a secret.

import { BoundedMap } from '../../async/bounded-map.js';
import { isObject } from '../../jsonrpc/message.js';
import { SECRET_ENDS, SECRET_NAMES } from './names.js';

/** Tells by a name, and by the value if it is known, whether the value is a secret. */
export type IsSecretName = (name: string, value?: unknown) => boolean;

/** They end like secrets, and are part of the protocol. */
const PUBLIC_NAMES = ['progresstoken', 'maxtokens'];
/** Peers choose names, so that only so many are remembered, and only short ones. */
const MAX_KNOWN_NAMES = 1000;
const MAX_NAME = 128;
const PUNCTUATION = /[\s!-/:-@[-`{-~]+/g;

let isWellKnown: IsSecretName | undefined;

/** Tells whether a name is one of the well-known ones. */
export function isSecretName(name: string, value?: unknown): boolean {
  isWellKnown ??= secretNames();
  return isWellKnown(name, value);
}

/** Makes a function that tells whether a name is that of a secret: a well-known one, or one of `own`, in any spelling. */
export function secretNames(own: Iterable<string> = []): IsSecretName {
  const exact = new Set([...SECRET_NAMES, ...[...own].map(plainName)]);
  const known = new BoundedMap<string, boolean>(MAX_KNOWN_NAMES);

  function decide(name: string): boolean {
    const bare = plainName(name);
    if (exact.has(bare)) return true;
    const singular = bare.replace(/s$/, '');
    return SECRET_ENDS.some((end) => singular.endsWith(end)) && !PUBLIC_NAMES.includes(bare);
  }

  return (name, value) => {
    let isSecret = known.get(name);
    if (isSecret === undefined) {
      isSecret = decide(name.length > MAX_NAME ? name.slice(-MAX_NAME) : name);
      if (name.length <= MAX_NAME) known.set(name, isSecret);
    }
    if (!isSecret || typeof value === 'boolean') return false;
    return !(isCount(value) && plainName(name).endsWith('tokens'));
  };
}

/** A name in lower case and without punctuation: `apiKey`, `api_key` and `API-Key` are one name. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(PUNCTUATION, '');
}

/** Whether a string is a credential as a whole. "Bearer of bad news" is not one. */
export function isCredential(text: string): boolean {
  return text.length > 7 && text.slice(0, 7).toLowerCase() === 'bearer ' && !text.includes(' ', 7);
}

// A number of tokens (`maxTokens`, `tokens: { input: 5 }`) is not a secret; a list of them is.
function isCount(value: unknown): boolean {
  if (!isObject(value)) return typeof value === 'number';
  return Object.values(value).every((inner) => typeof inner === 'number');
}
