import { memoryStore } from 'fullmcp';
import { gateway } from 'fullmcp/gateway';
import { memoryEventLog } from 'fullmcp/http';
import { lmdbStore } from 'fullmcp/lmdb';
import { nats } from 'fullmcp/nats';
import { postgres } from 'fullmcp/postgres';
import { proxy } from 'fullmcp/proxy';
import { redis } from 'fullmcp/redis';
import { beforeAll, expect, test, vi } from 'vitest';
import { connectTable } from '../../../../src/connect/targets/option-tables.js';
import type { AnyTable } from '../../../../src/protocol/checks/options.js';

// An option that several functions have means the same in each of them. Every function passes its table to `readOptions`, which records it here.

const tables = vi.hoisted(() => new Map<string, AnyTable>());
vi.mock('../../../../src/protocol/checks/options.js', async (original) => {
  const real = await original<typeof import('../../../../src/protocol/checks/options.js')>();
  return {
    ...real,
    readOptions(of: string, options: object, table: AnyTable) {
      tables.set(of, table);
      return real.checkOptions(of, options, table);
    },
  };
});

const wrong = { '~~': 1 } as never;

beforeAll(() => {
  const all: (() => unknown)[] = [
    () => memoryStore(wrong),
    () => lmdbStore('/nowhere', wrong),
    () => memoryEventLog(wrong),
    () => redis(wrong),
    () => postgres(wrong),
    () => nats(wrong),
    () => proxy('https://example.com/mcp', wrong),
    () => gateway('mcp.json', wrong),
  ];
  for (const make of all) expect(make).toThrow('has no option "~~"');
  tables.set('connect', connectTable as AnyTable);
});

/** An option in its long form. */
interface Entry {
  readonly is?: unknown;
  readonly oneOf?: unknown;
  readonly min?: number;
  readonly max?: number;
  readonly default?: unknown;
  readonly options?: AnyTable;
}

/** The options of a table by their paths, each as text: its kind, bounds and default. */
function rowsOf(table: AnyTable, path = ''): Record<string, string> {
  const rows: Record<string, string> = {};
  for (const [name, option] of Object.entries(table)) {
    const entry: Entry =
      typeof option === 'string' || Array.isArray(option) ? { is: option } : (option as Entry);
    const { is, oneOf, min, max, default: fallback, options } = entry;
    rows[path + name] = JSON.stringify({ is, oneOf, min, max, default: fallback });
    if (options) Object.assign(rows, rowsOf(options, `${path}${name}.`));
  }
  return rows;
}

/** The options that several functions have, and that are not the same in all of them. */
function differences(all: readonly Record<string, string>[]): readonly string[] {
  const names = new Set(all.flatMap((rows) => Object.keys(rows)));
  return [...names].filter((name) => new Set(all.flatMap((rows) => rows[name] ?? [])).size > 1).sort();
}

const rows = (name: string, path = ''): Record<string, string> => rowsOf(tables.get(name) as AnyTable, path);

test('Engines have the same kinds, bounds and defaults for options of the same name, but for listed exceptions', () => {
  const exceptions = {
    'events.maxAgeMs': 'NATS accepts no less than a second.',
    'events.maxBytes': 'The log in memory is smaller than the stream of NATS, which is on disk.',
    maxBytes: 'A store in memory is smaller than one on disk.',
    maxEntries: 'A store in memory is smaller than one on disk.',
    url: 'NATS also takes a URL object.',
  };
  const engines = [
    ...['memoryStore', 'lmdbStore', 'redis', 'postgres', 'nats'].map((name) => rows(name)),
    rows('memoryEventLog', 'events.'),
  ];
  expect(differences(engines)).toEqual(Object.keys(exceptions));
});

test('connect, proxy and gateway have the same kinds, bounds and defaults for options of the same name, but for listed exceptions', () => {
  const exceptions = { identity: 'A gateway also takes an object with the identity for each server.' };
  expect(differences(['connect', 'proxy', 'gateway'].map((name) => rows(name)))).toEqual(
    Object.keys(exceptions),
  );
});
