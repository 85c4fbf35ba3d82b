// Certificates and keys: PEM text, or the path of a file that has it.

import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { quote } from '../../../protocol/encoding/shorten.js';

/** A mistake in the options of TLS. Its message never contains a key. */
class PemError extends Error {}

/** Whether a value is the path of a file. Strings that are not PEM text are paths. */
export function isPath(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('-----BEGIN ');
}

/** Reads the value of an option, or each of an array: PEM text or bytes as they are, or the file at a path or `file:` URL. */
export function readPem(option: string, value: unknown): Buffer[] | undefined {
  if (value === undefined) return undefined;
  return [value].flat().map((one) => {
    if (one instanceof Uint8Array) return Buffer.from(one);
    if (typeof one !== 'string')
      throw new PemError(`\`${option}\` must be PEM text or the path of a file, not ${typeof one}`);
    if (!isPath(one)) return Buffer.from(one);
    try {
      return readFileSync(one.startsWith('file:') ? fileURLToPath(one) : one);
    } catch (error) {
      const { code = 'an invalid path' } = error as NodeJS.ErrnoException;
      // A key without its first line would be taken for a path.
      const path = option === 'key' || option === 'pfx' ? '' : `, ${quote(one, 200)},`;
      throw new PemError(`\`${option}\`${path} is neither PEM text nor a file that can be read: ${code}`);
    }
  });
}
