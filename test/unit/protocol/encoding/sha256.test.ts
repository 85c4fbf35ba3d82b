import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { sha256 } from '../../../../src/protocol/encoding/sha256.js';

test('the synchronous SHA-256 follows FIPS 180-4 for every length around its blocks', () => {
  const lengths = [...Array.from({ length: 300 }, (_, length) => length), 4095, 4096, 65_536, 1_000_003];
  for (const length of lengths) {
    const message = randomBytes(length);
    expect(Buffer.from(sha256(message)).toString('hex'), `${length} bytes`).toBe(
      createHash('sha256').update(message).digest('hex'),
    );
  }
});
