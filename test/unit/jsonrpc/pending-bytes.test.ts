import { expect, test } from 'vitest';
import { PendingBytes } from '../../../src/jsonrpc/pending-bytes.js';

const nothing = new Uint8Array(0);

test('a small slice is copied, so that a line that arrives in many pieces does not keep their chunks', () => {
  const pending = new PendingBytes();
  const chunk = new Uint8Array([1, 2, 3]);
  pending.add(chunk.subarray(0, 2));
  chunk.fill(9);
  pending.add(new Uint8Array([3]));
  expect(pending.length).toBe(3);
  expect([...pending.take(new Uint8Array([4]))]).toEqual([1, 2, 3, 4]);
  expect(pending.length).toBe(0);
});

test('a large slice is kept as it is, unless it would keep a chunk that is more than twice as large', () => {
  const pending = new PendingBytes();
  const whole = new Uint8Array(8192).fill(1);
  const part = new Uint8Array(20_000).fill(1);
  pending.add(whole);
  pending.add(part.subarray(0, 4096));
  whole.fill(2);
  part.fill(2);
  const taken = pending.take(nothing);
  expect([taken[0], taken[8191], taken[8192], taken[12_287]]).toEqual([2, 2, 1, 1]);
});
