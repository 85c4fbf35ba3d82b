import { createServer, inProcess, type ResourceOptions, resource, type Server } from 'fullmcp';
import { everyWire } from 'fullmcp/testing';
import { describe, expect, it, vi } from 'vitest';
import { until } from '../../../support/until.js';

type ListRequest = Parameters<NonNullable<ResourceOptions['list']>>[1];

const base = { name: 'test', version: '1.0.0' };
const read = (): string => 'x';
const uris = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `a://${from + at}`);

interface ListingOptions {
  readonly pageSize?: number;
  readonly log?: (...message: unknown[]) => void;
  readonly allow?: (auth: { subject: string } | undefined, input: { id?: string } | undefined) => boolean;
}

function listing(list: unknown, { pageSize = 500, log = () => undefined, allow }: ListingOptions = {}) {
  const definition = { list: list as () => [], read, ...(allow && { allow: allow as never }) };
  return createServer({ ...base, logger: log, pageSize, resources: { 'a://{id}': resource(definition) } });
}

async function pages(server: Server, subject?: string): Promise<string[][]> {
  const call = inProcess(server, subject === undefined ? {} : { caller: { subject } });
  const found: string[][] = [];
  let cursor: unknown;
  do {
    const result = await call('resources/list', cursor === undefined ? {} : { cursor });
    found.push((result['resources'] as { uri: string }[]).map(({ uri }) => uri));
    cursor = result['nextCursor'];
  } while (cursor !== undefined);
  return found;
}

/** A list of URIs that counts how many were read, and whether it was closed. */
function counted(items: Iterable<string>) {
  const counts = { read: 0, opened: 0, closed: 0 };
  async function* list() {
    counts.opened++;
    try {
      for (const uri of items) {
        counts.read++;
        yield uri;
      }
    } finally {
      counts.closed++;
    }
  }
  return { counts, list };
}

describe('a template that lists with an iterable', () => {
  it('lists 100,000 resources, and reads for each page only as far as needed', async () => {
    const { counts, list } = counted(uris(0, 100_000));
    const server = listing(list, { pageSize: 10_000 });
    const first = await inProcess(server)('resources/list');
    expect(first['resources']).toHaveLength(10_000);
    expect(counts).toEqual({ read: 10_001, opened: 1, closed: 1 });
    const all = await pages(server);
    expect(all.map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => 10_000));
    expect(new Set(all.flat()).size).toBe(100_000);
    expect(counts.closed).toBe(counts.opened);
  });

  it('lists no more than 100,000 resources of one that never ends, and tells the operator', async () => {
    const log = vi.fn();
    function* endless() {
      for (let id = 0; ; id++) yield `a://${id}`;
    }
    expect((await pages(listing(endless, { pageSize: 60_000, log }))).map(({ length }) => length)).toEqual([
      60_000, 40_000,
    ]);
    expect(log.mock.calls.map(([level, message]) => [level, message])).toEqual([
      [
        'warning',
        expect.stringContaining('more than 100000 entries, and the rest is not listed. Return pages'),
      ],
    ]);
  });

  it('accepts synchronous iterables and entries with names', async () => {
    expect(await pages(listing(() => new Set(['a://1', 'a://2'])))).toEqual([['a://1', 'a://2']]);
    expect(await pages(listing(async () => [{ uri: 'a://1', name: 'One' }].values()))).toEqual([['a://1']]);
  });

  it('is listed for clients of every revision, over every wire', async () => {
    await everyWire(listing(counted(uris(0, 7)).list, { pageSize: 3 }), async (client) => {
      expect((await client.resources().all()).map(({ uri }) => uri)).toEqual(uris(0, 7));
    });
  });

  it('fails if the iterable throws, on the page that reaches the error', async () => {
    const log = vi.fn();
    async function* list() {
      yield* uris(0, 5);
      throw new Error('10.0.0.7 is away');
    }
    const server = listing(list, { pageSize: 2, log });
    const call = inProcess(server);
    const { nextCursor } = await call('resources/list');
    const second = await call('resources/list', { cursor: nextCursor });
    expect(second['resources']).toHaveLength(2);
    const third = call('resources/list', { cursor: second['nextCursor'] });
    await expect(third).rejects.toThrow(/^Internal error \(ref /);
    expect(log.mock.calls[0]?.[2]).toMatchObject({ message: '10.0.0.7 is away' });
  });

  it('closes the iterable if an entry is wrong', async () => {
    const { counts, list } = counted(['a://1', 7 as never, 'a://3']);
    await expect(pages(listing(list))).rejects.toThrow(/^Internal error/);
    expect(counts).toEqual({ read: 2, opened: 1, closed: 1 });
  });

  it('ends and closes the iterable when the client cancels, even while it waits for an item', async () => {
    const close = vi.fn();
    let waits = false;
    const slow = {
      next: () => {
        waits = true;
        return new Promise<never>(() => undefined);
      },
      return: close,
    };
    const ending = new AbortController();
    const server = listing(() => ({ [Symbol.asyncIterator]: () => slow }));
    const listed = inProcess(server)('resources/list', {}, { signal: ending.signal });
    await until('the list waits for an item', () => waits);
    ending.abort();
    await expect(listed).rejects.toMatchObject({ code: 'cancelled' });
    await until('the iterable is closed', () => close.mock.calls.length === 1);
  });

  it('skips and repeats nothing if entries come and go before the page', async () => {
    const items = uris(1, 8);
    const call = inProcess(listing(() => items.values(), { pageSize: 3 }));
    const at = async (cursor: unknown) =>
      ((await call('resources/list', { cursor }))['resources'] as { uri: string }[]).map(({ uri }) => uri);
    const { nextCursor } = await call('resources/list');
    items.unshift('a://0');
    expect(await at(nextCursor)).toEqual(uris(4, 7));
    items.splice(0, 3);
    expect(await at(nextCursor)).toEqual(uris(4, 7));
    items.splice(0, 1);
    // The last entry of the page before is gone, so its index counts.
    expect(await at(nextCursor)).toEqual(['a://7']);
  });

  it('comes to an end if the iterable repeats entries', async () => {
    const repeating = () => ['a://1', 'a://2', 'a://1', 'a://3', 'a://1', 'a://4'].values();
    for (const pageSize of [1, 2, 3]) {
      const found = (await pages(listing(repeating, { pageSize }))).flat();
      expect([...new Set(found)].sort()).toEqual(uris(1, 5));
      expect(found.length).toBeLessThanOrEqual(6);
    }
  });

  it('lists for each caller only what the caller may read', async () => {
    const owner = (id: string | undefined): string => (Number(id) % 3 === 0 ? 'ann' : 'bob');
    const allow: ListingOptions['allow'] = (auth, input) =>
      input === undefined || owner(input.id) === auth?.subject;
    const server = listing(counted(uris(0, 30)).list, { pageSize: 4, allow });
    const ofAnn = await pages(server, 'ann');
    expect(ofAnn.map(({ length }) => length)).toEqual([4, 4, 2]);
    expect(ofAnn.flat()).toEqual(uris(0, 30).filter((_, id) => id % 3 === 0));
    expect((await pages(server, 'bob')).flat()).toEqual(uris(0, 30).filter((_, id) => id % 3 !== 0));
  });

  it('checks the rules of 10,000 entries at most for one page, and puts no hidden URI into the cursor', async () => {
    const allow: ListingOptions['allow'] = (_, input) => input === undefined || input.id === '24999';
    const server = listing(counted(uris(0, 25_000)).list, { allow });
    const { resources, nextCursor } = await inProcess(server, { caller: { subject: 'ann' } })(
      'resources/list',
    );
    expect(resources).toEqual([]);
    expect(atob(nextCursor as string)).not.toContain('a://1');
    expect((await pages(server, 'ann')).flat()).toEqual(['a://24999']);
  });
});

describe('a template that lists page by page', () => {
  const paged = (requests: ListRequest[] = []) =>
    listing(
      (_: unknown, request: ListRequest) => {
        requests.push(request);
        const from = Number(request.cursor ?? 0);
        const to = Math.min(from + request.limit, 7);
        return { entries: uris(from, to), next: to < 7 ? String(to) : undefined };
      },
      { pageSize: 3 },
    );

  it('gets the cursor that it returned, and the number of entries that fit', async () => {
    const requests: ListRequest[] = [];
    expect(await pages(paged(requests))).toEqual([uris(0, 3), uris(3, 6), uris(6, 7)]);
    expect(requests).toEqual([
      { cursor: undefined, limit: 3 },
      { cursor: '3', limit: 3 },
      { cursor: '6', limit: 3 },
    ]);
  });

  it('is listed for clients of every revision, over every wire', async () => {
    await everyWire(paged(), async (client) => {
      expect((await client.resources().all()).map(({ uri }) => uri)).toEqual(uris(0, 7));
    });
  });

  it('shares pages with the lists before and after it, none of which is called for pages that do not need it', async () => {
    const calls: string[] = [];
    const server = createServer({
      ...base,
      pageSize: 3,
      resources: {
        'own://1': resource({ read }),
        'a://{id}': resource({
          list: (_, { cursor }) => {
            calls.push('a');
            return cursor === undefined ? { entries: ['a://0'], next: 'x' } : { entries: ['a://1'] };
          },
          read,
        }),
        'b://{id}': resource({
          list: () => {
            calls.push('b');
            return ['b://0', 'b://1'];
          },
          read,
        }),
      },
    });
    expect(await pages(server)).toEqual([
      ['own://1', 'a://0'],
      ['a://1', 'b://0', 'b://1'],
    ]);
    expect(calls).toEqual(['a', 'a', 'b']);
  });

  it.each([[7], ['x'.repeat(4097)]])('may not return %o as its next cursor', async (next) => {
    const log = vi.fn();
    await expect(pages(listing(() => ({ entries: [], next }), { log }))).rejects.toThrow(/^Internal error/);
    expect(log.mock.calls[0]?.[2]).toMatchObject({
      message: expect.stringContaining('"next" is not a string of at most 4096 characters'),
    });
  });
});
