import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bytesOf } from '../../../../src/state/store-shares.js';
import { LmdbProcess } from '../../../support/engines/lmdb.js';

type Lmdb = typeof import('lmdb', { with: { 'resolution-mode': 'require' }});
const { open } = createRequire(import.meta.url)('lmdb') as Lmdb;
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-lmdb-consistency-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Total {
  readonly entries: number;
  readonly bytes: number;
}

/** The counts and indexes that the database has, and those that its rows ought to have. */
function compare(path: string): readonly [actual: object, expected: object] {
  const db = open({ path, readOnly: true, noSubdir: false, maxDbs: 16 });
  const rows = (name: string, encoding: 'json' | 'string') =>
    [...db.openDB<never, never>({ name, encoding }).getRange()] as readonly {
      readonly key: never;
      readonly value: never;
    }[];
  const totals = new Map<string, Total>();
  const add = (name: string, bytes: number): void => {
    const before = totals.get(name) ?? { entries: 0, bytes: 0 };
    totals.set(name, { entries: before.entries + 1, bytes: before.bytes + bytes });
  };
  const addEntry = (key: string, bytes: number): void => {
    const [kind, group] = key.split(':');
    for (const name of [':', kind, `${kind}:${group}`]) add(`total:${name}`, bytes);
  };
  const expiries: unknown[] = [];
  for (const { key, value } of rows('values', 'string') as readonly { key: string; value: string }[]) {
    const [, expiresAt = ''] = value.split(' ', 2);
    addEntry(key, bytesOf(key) + bytesOf(value.split(' ').slice(2).join(' ')));
    if (expiresAt !== '') expiries.push([Number(expiresAt), 'value', key]);
  }
  const items = rows('items', 'string') as readonly { key: [number, number]; value: string }[];
  const namesExpected: unknown[] = [];
  const sizes = new Map<number, { size: number; bytes: number }>();
  for (const { key, value } of items) {
    const [name = '', json = ''] = value.split('\n');
    const before = sizes.get(key[0]) ?? { size: 0, bytes: 0 };
    sizes.set(key[0], { size: before.size + 1, bytes: before.bytes + bytesOf(name) + bytesOf(json) });
    namesExpected.push([key[0], name, key[1]]);
  }
  interface ListRow {
    readonly id: number;
    readonly size: number;
    readonly bytes: number;
    readonly expiresAt: number | null;
  }
  const lists = rows('lists', 'json') as readonly { key: string; value: ListRow }[];
  const listsExpected: unknown[] = [];
  for (const { key, value } of lists) {
    const { size, bytes } = sizes.get(value.id) ?? { size: 0, bytes: 0 };
    listsExpected.push({ key, value: { ...value, size, bytes: bytesOf(key) + bytes } });
    addEntry(key, value.bytes);
    if (value.expiresAt !== null) expiries.push([value.expiresAt, 'list', key]);
  }
  const work = rows('work', 'json') as readonly { key: [string, string]; value: { due: number } }[];
  for (const { key } of work) add(`size:${key[0]}`, 0);
  const names = rows('names', 'json') as readonly { key: [number, string]; value: number }[];
  const state = (rows('state', 'json') as readonly { key: string; value: Total }[]).filter(
    ({ key }) => key !== 'facts',
  );
  const sorted = (list: readonly unknown[]): readonly string[] =>
    list.map((row) => JSON.stringify(row)).sort();
  const actual = {
    totals: sorted(state.map(({ key, value }) => [key, value])),
    expiries: sorted(rows('expiries', 'json').map(({ key }) => key)),
    lists: sorted(lists),
    names: sorted(names.map(({ key, value }) => [...key, value])),
    due: sorted(rows('due', 'json').map(({ key }) => key)),
  };
  const expected = {
    totals: sorted([...totals]),
    expiries: sorted(expiries),
    lists: sorted(listsExpected),
    names: sorted(namesExpected),
    due: sorted(work.map(({ key, value }) => [key[0], value.due, key[1]])),
  };
  void db.close();
  return [actual, expected];
}

describe('a store on disk after random writes of several processes', () => {
  it.each([1, 2, 3])(
    'has counts and indexes that are equal to its rows, even if one was killed: seed %d',
    async (seed) => {
      const path = join(folder, `store-${seed}`);
      const options = { maxEntries: 12, kindShare: 0.7, callerShare: 0.5, sweepIntervalMs: 15 };
      const all = await Promise.all([1, 2, 3].map(() => LmdbProcess.start(path, options)));
      const [first, second, third] = all;
      const jobs = all.map((each, n) => each.do('random', seed * 10 + n, n === 2 ? 1e9 : 150));
      await Promise.all([first, second].map((_, n) => jobs[n]));
      await third?.end('SIGKILL');
      await Promise.all([first?.end('SIGTERM'), second?.end('SIGTERM')]);
      const [actual, expected] = compare(path);
      expect(actual).toEqual(expected);
      expect((actual as { readonly totals: readonly string[] }).totals.length).toBeGreaterThan(0);
    },
  );
});
