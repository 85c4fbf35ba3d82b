import { expect, test } from 'vitest';
import { Turns } from '../../../src/async/turns.js';

test('pieces of work take turns in the order in which they came', async () => {
  const turns = new Turns();
  const seen: string[] = [];
  const ends: (() => void)[] = [];
  const take = (name: string) =>
    turns.take(async () => {
      seen.push(`begin ${name}`);
      await new Promise<void>((resolve) => ends.push(resolve));
      seen.push(`end ${name}`);
      return name;
    });
  const all = Promise.all([take('one'), take('two')]);
  await Promise.resolve();
  expect(seen).toEqual(['begin one']);
  ends[0]?.();
  await expect.poll(() => ends.length).toBe(2);
  ends[1]?.();
  expect(await all).toEqual(['one', 'two']);
  expect(seen).toEqual(['begin one', 'end one', 'begin two', 'end two']);
});

test('the failure of a turn belongs to its caller, and the next turn begins', async () => {
  const turns = new Turns();
  const first = turns.take(() => {
    throw new Error('the first one');
  });
  const second = turns.take(() => 'the second one');
  await expect(first).rejects.toThrow('the first one');
  expect(await second).toBe('the second one');
});

test('turns are idle when the last one has ended, however it ended', async () => {
  const turns = new Turns();
  let hasEnded = false;
  const failing = turns.take(async () => {
    await null;
    hasEnded = true;
    throw new Error('refused');
  });
  failing.catch(() => undefined);
  await turns.idle;
  expect(hasEnded).toBe(true);
});
