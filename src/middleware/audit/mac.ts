import { checkSecret } from '../../protocol/checks/secret.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { sha256 } from '../../protocol/encoding/sha256.js';

// The function that links the entries of a log: HMAC-SHA-256 with a secret, SHA-256 without one. As base64url.

/** Computes the code of a string. */
export type Mac = (text: string) => string;

/** Makes the function for a secret; undefined is for a log without one. */
export type MacOf = (secret: string | undefined) => Mac;

const BLOCK = 64;
const encoder = new TextEncoder();

/** The functions for the secrets of an option, the one that signs first. Throws a TypeError if a secret is too short. */
export function macsOf(
  secret: string | readonly string[] | undefined,
  macOf: MacOf = portableMac,
): readonly Mac[] {
  if (secret === undefined) return [macOf(undefined)];
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (secrets.length === 0)
    throw new TypeError('audit: `secret` must have at least one secret; leave it out for none.');
  return secrets.map((one) => {
    checkSecret(one);
    return macOf(one);
  });
}

/** Works on every runtime. Node has a faster one. */
function portableMac(secret: string | undefined): Mac {
  if (secret === undefined) return (text) => encodeBase64Url(sha256(encoder.encode(text)));
  const bytes = encoder.encode(secret);
  const key = bytes.length > BLOCK ? sha256(bytes) : bytes;
  const pad = (byte: number): Uint8Array =>
    Uint8Array.from({ length: BLOCK }, (_, at) => (key[at] ?? 0) ^ byte);
  const [inner, outer] = [pad(0x36), pad(0x5c)];
  return (text) => encodeBase64Url(sha256(join(outer, sha256(join(inner, encoder.encode(text))))));
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
