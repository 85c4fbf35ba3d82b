import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { Fields } from '../fields.js';

const MAX_KEYS = 20;
/** The members of a key that only its owner may know: those of RSA and of curves, and a symmetric key. */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** The key set in a document. A document is public, so a secret key in it is a mistake that must not be used. */
export function checkPublicKeys(fields: Fields): JsonObject | undefined {
  const set = fields.get('jwks');
  if (set === undefined) return undefined;
  const keys = isObject(set) ? set['keys'] : undefined;
  if (
    !isObject(set) ||
    !Array.isArray(keys) ||
    keys.length === 0 ||
    keys.length > MAX_KEYS ||
    !keys.every(isObject)
  )
    throw fields.mistake(`\`jwks\` must have \`keys\`, an array of 1 to ${MAX_KEYS} keys`);
  for (const key of keys) {
    if (typeof key['kty'] !== 'string' || key['kty'] === 'oct')
      throw fields.mistake('`jwks` contains a key that is not a public key');
    if (secretMembers.some((name) => Object.hasOwn(key, name)))
      throw fields.mistake('`jwks` contains a secret key');
  }
  return set;
}
