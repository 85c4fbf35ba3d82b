import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lmdbStore } from 'fullmcp/lmdb';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/state/store.js';
import {
  holdInContainer,
  LmdbProcess,
  openInContainer,
  openWithIdOfKilled,
} from '../../../support/engines/lmdb.js';
import { until } from '../../../support/until.js';

const folder = mkdtempSync(join(tmpdir(), 'fullmcp-lmdb-processes-'));
let stores = 0;
const fresh = (): string => join(folder, `store-${++stores}`);
const running: LmdbProcess[] = [];
const open: Store[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.end()));
  await Promise.all(open.splice(0).map((each) => each.close()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function start(path: string, processes: number, options = {}): Promise<readonly LmdbProcess[]> {
  const started = await Promise.all(
    Array.from({ length: processes }, () => LmdbProcess.start(path, options)),
  );
  running.push(...started);
  return started;
}

function openStore(path: string, options = {}): Store {
  const store = lmdbStore(path, options);
  open.push(store);
  return store;
}

const range = (length: number): string[] => Array.from({ length }, (_, n) => `n${n}`);

describe('processes that share a store on disk', () => {
  it('count without losing a step, by counting and by compare-and-set', async () => {
    const path = fresh();
    const all = await start(path, 4);
    await Promise.all(all.map((each) => each.do('count', 'count:g', 250)));
    await Promise.all(all.map((each) => each.do('increment', 'number:g', 50)));
    const store = openStore(path);
    expect((await store.get('count:g'))?.value).toEqual({ count: 1000 });
    expect((await store.get('number:g'))?.value).toEqual({ n: 200 });
  });

  it('take each name of a list once, in one order for all of them', async () => {
    const path = fresh();
    const all = await start(path, 3);
    const names = range(300);
    const taken = (await Promise.all(all.map((each) => each.do('take', 'list:g', names, {})))) as string[][];
    expect(taken.flat().sort()).toEqual([...names].sort());
    const orders = await Promise.all(all.map(({ store }) => store.items('list:g')));
    expect(orders[1]).toEqual(orders[0]);
    expect(orders[2]).toEqual(orders[0]);
    expect(orders[0]).toHaveLength(300);
    const positions = orders[0]?.map(({ at }) => at) ?? [];
    expect([...positions].sort((a, b) => a - b)).toEqual(positions);
  });

  it('claim each key once, with tokens that no other claim has', async () => {
    const path = fresh();
    const store = openStore(path);
    await Promise.all(range(300).map((key) => store.write([{ do: 'enqueue', queue: 'q', key: `g:${key}` }])));
    const all = await start(path, 3);
    const ends = await Promise.all(all.map((each) => each.do('work', 'q', 'done:g')));
    expect(ends).toEqual([{ lost: 0 }, { lost: 0 }, { lost: 0 }]);
    const done = await store.items('done:g');
    expect(done.map(({ value }) => value['key']).sort()).toEqual(
      range(300)
        .map((key) => `g:${key}`)
        .sort(),
    );
    expect(new Set(done.map(({ name }) => name)).size).toBe(300);
    expect(await store.size('q')).toBe(0);
  });

  it('never miss an answer that is appended while the work is put aside', async () => {
    const path = fresh();
    const store = openStore(path);
    await store.write([{ do: 'enqueue', queue: 'q', key: 'g:1' }]);
    const [taker, ...answerers] = await start(path, 4);
    const taking = taker?.do('takeAnswers', 'q', 'inbox:g', 600);
    await Promise.all(
      answerers.map((each, n) =>
        each.do('answer', 'q', 'g:1', { inbox: 'inbox:g', from: n * 200, to: n * 200 + 200 }),
      ),
    );
    // It ends only if the last answer has woken it up.
    expect(await taking).toBeGreaterThan(0);
  });

  it('share the limits of the store, and one count of what is stored', async () => {
    const path = fresh();
    const options = { maxEntries: 40, kindShare: 0.5, callerShare: 1 };
    const all = await start(path, 3, options);
    const writes = all.flatMap(({ store }, n) =>
      range(20).map((name) => store.write([{ do: 'put', key: `task:g:${n}-${name}`, value: {} }])),
    );
    const ends = await Promise.allSettled(writes);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    const store = openStore(path, options);
    await expect(store.write([{ do: 'put', key: 'task:g:more', value: {} }])).rejects.toThrow(
      'full for "task"',
    );
    for (const { key } of await store.page('task:')) await store.write([{ do: 'delete', key }]);
    await all[0]?.store.write([{ do: 'put', key: 'task:g:more', value: {} }]);
  });

  it('read what another process wrote as soon as that write has resolved', async () => {
    const path = fresh();
    const [writer] = await start(path, 1);
    const store = openStore(path);
    for (let n = 0; n < 200; n++) {
      await writer?.store.write([{ do: 'put', key: 'a:g', value: { n } }]);
      expect((await store.get('a:g'))?.value).toEqual({ n });
    }
  });

  it('grow the database together', async () => {
    const path = fresh();
    const all = await start(path, 2, { callerShare: 1 });
    const text = 'x'.repeat(50_000);
    for (let round = 0; round < 10; round++)
      await Promise.all(
        all.flatMap(({ store }, n) =>
          range(20).map((name) =>
            store.write([{ do: 'put', key: `a:g:${n}-${round}-${name}`, value: { text } }]),
          ),
        ),
      );
    const store = openStore(path);
    const page = await store.page('a:', { limit: 1000 });
    expect(page).toHaveLength(400);
    expect(page.every(({ value }) => value['text'] === text)).toBe(true);
  });
});

describe('a process that shares a store on disk and is killed', () => {
  it('in the middle of writes leaves each of them whole or not begun, and nothing acknowledged is lost', {
    timeout: 90_000,
  }, async () => {
    const path = fresh();
    const survivor = openStore(path, { callerShare: 1 });
    for (let round = 0; round < 8; round++) {
      const group = `g${round}`;
      const [writer] = await start(path, 1, { callerShare: 1 });
      void writer?.do('writeForever', group);
      // Another process writes all the time, so that the killed one often has the lock or waits for it.
      let isOver = false;
      const writing = (async () => {
        while (!isOver) await survivor.write([{ do: 'count', key: 'alive:g', by: 1 }]);
      })();
      await until('it has written', () => (writer?.acknowledged ?? -1) > 20 + round * 7);
      await writer?.end('SIGKILL');
      isOver = true;
      await writing;
      const [a, b] = await Promise.all([
        survivor.page(`a:${group}`, { limit: 1e6 }),
        survivor.page(`b:${group}`, { limit: 1e6 }),
      ]);
      const items = await survivor.items(`l:${group}`);
      expect(a.length).toBeGreaterThan(writer?.acknowledged as number);
      expect([b.length, items.length]).toEqual([a.length, a.length]);
      expect((await survivor.get(`c:${group}`))?.value).toEqual({ count: a.length });
    }
  });

  it('inside a transaction lets the others continue at once', async () => {
    const path = fresh();
    const [stopped, other] = await start(path, 2);
    await stopped?.do('stopInside');
    void stopped?.store.write([{ do: 'put', key: 'a:g', value: { by: 'stopped' } }]).catch(() => undefined);
    await untilStopped(stopped);
    const write = other?.store.write([{ do: 'put', key: 'a:g', value: { by: 'other' }, if: 'absent' }]);
    await stopped?.end('SIGKILL');
    expect(await write).toEqual({ ok: true });
  });
});

describe('a process that shares a store on disk and is stopped', () => {
  it('outside a transaction holds nobody up, and cannot write with a lease that another has claimed', async () => {
    const path = fresh();
    const [stopped, other] = await start(path, 2);
    await stopped?.store.write([{ do: 'enqueue', queue: 'q', key: 'g:1' }]);
    const [stale] = (await stopped?.store.claim('q', { owner: 'stopped', limit: 1, ms: 50 })) ?? [];
    stopped?.child.kill('SIGSTOP');
    await untilStopped(stopped);
    await until('another has claimed it', async () => {
      const leases = await other?.store.claim('q', { owner: 'other', limit: 1, ms: 60_000 });
      return leases?.length === 1;
    });
    stopped?.child.kill('SIGCONT');
    const append = { do: 'append', list: 'journal:g:1', name: 'late', value: {} } as const;
    expect(await stopped?.store.write([append], { guard: stale as never })).toEqual({
      ok: false,
      refusedBy: 'guard',
    });
    expect(await stopped?.store.renew([stale as never], 1000)).toEqual([]);
  });

  it('inside a transaction makes the writes of others fail in bounded time, reads continue, and nothing is written twice', async () => {
    const path = fresh();
    const [stopped, other] = await start(path, 2, { writeTimeoutMs: 1000 });
    await other?.store.write([{ do: 'put', key: 'a:g', value: { n: 1 } }]);
    await stopped?.do('stopInside');
    const stuck = stopped?.store.write([{ do: 'put', key: 'stuck:g', value: {} }]);
    await untilStopped(stopped);
    const count = { do: 'count', key: 'count:g', by: 1 } as const;
    await expect(other?.store.write([count])).rejects.toThrow(
      /^The store at .* could not be written to within 1000 ms\. Another process .* may be stopped in the middle of a write/,
    );
    expect((await other?.store.get('a:g'))?.value).toEqual({ n: 1 });
    stopped?.child.kill('SIGCONT');
    expect(await stuck).toEqual({ ok: true });
    expect(await other?.store.write([count])).toEqual({ ok: true });
    // The write that was given up had not begun, and did not begin afterwards.
    expect((await other?.store.get('count:g'))?.value).toEqual({ count: 1 });
  });
});

describe('a store on disk that cannot be shared', () => {
  it('is refused to a second server in the same process', () => {
    const path = fresh();
    openStore(path);
    expect(() => lmdbStore(path)).toThrow(`The store at ${path} is already open in process ${process.pid}`);
  });

  it('is refused to a process of another container, until nobody else has it open', async (context) => {
    const path = fresh();
    const store = lmdbStore(path);
    await store.write([{ do: 'put', key: 'a:g', value: { n: 1 } }]);
    const refusal = await openInContainer(path).catch(() => '');
    if (!refusal.startsWith('The store') && refusal !== 'opened 1')
      context.skip('Namespaces are not available here.');
    expect(refusal).toMatch(
      new RegExp(
        `^The store at ${path} is in use by process ${process.pid} of another container or machine\\.`,
      ),
    );
    await store.close();
    expect(await openInContainer(path)).toBe('opened 1');
    openStore(path);
  });

  it('is refused to a process with the same id in another container while that one has it open, and not after it was killed', async (context) => {
    const path = fresh();
    const held = await holdInContainer(path);
    if (held === undefined) return context.skip('Namespaces are not available here.');
    expect(await openInContainer(path)).toMatch(
      new RegExp(
        `^The store at ${path} is already open in process 1: this one, or one with the same number in another container\\.`,
      ),
    );
    await held.kill();
    expect(await openInContainer(path)).toBe('opened undefined');
  });

  it('is opened by a process that has the id of one that was killed', async (context) => {
    const output = await openWithIdOfKilled(fresh());
    if (output.includes('no namespaces')) context.skip('Namespaces are not available here.');
    const [before, after] = output.split('\n');
    expect(before).toMatch(/^opened by \d+$/);
    expect(after).toBe(before);
  });
});

async function untilStopped(stopped: LmdbProcess | undefined): Promise<void> {
  const { readFile } = await import('node:fs/promises');
  await until('it is stopped', async () => {
    const stat = await readFile(`/proc/${stopped?.child.pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')')).startsWith(') T');
  });
}
