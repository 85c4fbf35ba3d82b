import { describe, expect, it } from 'vitest';
import { ByNumber } from '../../../src/jsonrpc/by-number.js';

interface One {
  readonly id: number;
}

function addOne(table: ByNumber<One>): One {
  const one = { id: table.next() };
  table.add(one);
  return one;
}

describe('a table of open entries by number', () => {
  it('finds each entry under its own number, however many are open', () => {
    const table = new ByNumber<One>();
    const open = Array.from({ length: 1000 }, () => addOne(table));
    expect(open.map(({ id }) => id)).toEqual(Array.from({ length: 1000 }, (_, at) => at + 1));
    for (const one of open) expect(table.get(one.id)).toBe(one);
    expect(table.all()).toEqual(open);
  });

  it('never issues a number twice while some entries stay open for long', () => {
    const table = new ByNumber<One>();
    const long = [addOne(table), addOne(table)];
    const numbers = new Set(long.map(({ id }) => id));
    for (let call = 0; call < 1000; call++) {
      const one = addOne(table);
      expect(numbers.has(one.id)).toBe(false);
      numbers.add(one.id);
      expect(table.get(one.id)).toBe(one);
      expect(table.delete(one)).toBe(true);
      expect(table.get(one.id)).toBeUndefined();
    }
    expect(table.all()).toEqual(long);
  });

  it('does not mistake an entry for another one that has, or had, the same slot', () => {
    const table = new ByNumber<One>();
    const first = addOne(table);
    for (const id of [first.id + 64, first.id + 2 ** 32, -first.id, first.id + 0.5, Number.NaN]) {
      expect(table.get(id)).toBeUndefined();
    }
    expect(table.delete({ id: first.id })).toBe(false);
    expect(table.delete(first)).toBe(true);
    expect(table.delete(first)).toBe(false);
    expect(table.all()).toEqual([]);
  });

  it('lists open entries with the oldest first', () => {
    const table = new ByNumber<One>();
    const open = Array.from({ length: 100 }, () => {
      const one = addOne(table);
      for (let more = 0; more < 50; more++) table.delete(addOne(table));
      return one;
    });
    expect(table.all()).toEqual(open);
  });
});
