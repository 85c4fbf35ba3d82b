import { expect, test } from 'vitest';
import { BoundedMap } from '../../../src/async/bounded-map.js';
import { ExpiringMap } from '../../../src/async/expiring-map.js';

test('a bounded map drops the entry that was set the longest time ago', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('one', 1).set('two', 2);
  map.set('one', 11);
  map.set('three', 3);
  expect([...map]).toEqual([
    ['one', 11],
    ['three', 3],
  ]);
});

test('a bounded map makes no room for an entry that it has already', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('one', 1).set('two', 2).set('two', 22);
  expect([...map.keys()]).toEqual(['one', 'two']);
});

test('a bounded map may have keys of any type, undefined among them', () => {
  const map = new BoundedMap<unknown, number>(1);
  map.set(undefined, 1).set('two', 2);
  expect([...map.keys()]).toEqual(['two']);
});

test('an expiring map drops the entry that was not read for the longest time', () => {
  const map = new ExpiringMap<number>({ maxEntries: 2 });
  map.set('one', 1, 1000);
  map.set('two', 2, 1000);
  expect(map.get('one')).toBe(1);
  map.set('three', 3, 1000);
  expect([map.get('one'), map.get('two'), map.get('three')]).toEqual([1, undefined, 3]);
});

test('an entry of an expiring map lives for its time and not longer, also if it is read meanwhile', () => {
  const clock = { now: 1000 };
  const map = new ExpiringMap<number>({ maxEntries: 2, now: () => clock.now });
  map.set('one', 1, 100);
  clock.now += 99;
  expect(map.get('one')).toBe(1);
  clock.now += 1;
  expect(map.get('one')).toBeUndefined();
  expect(map.size).toBe(0);
});
