import { describe, expect, it } from 'vitest';
import { type Bus, memoryBus } from '../../../../src/state/bus.js';
import { memoryStore } from '../../../../src/state/memory/store.js';
import type { Store } from '../../../../src/state/store.js';
import { mortalStore } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';
import { type Recorder, recorder, startProcess } from './processes.js';

const uri = 'x://1';

function world() {
  const shared = { store: memoryStore(), bus: memoryBus() };
  const record = recorder();
  const start = (name: string, more: object = {}) => startProcess(name, record, { ...shared, ...more });
  return { ...shared, record, start };
}

const happened = (record: Recorder, count: number) =>
  until(`${count} hooks have run`, () => record.events.length >= count);

async function keys(store: Store): Promise<string[]> {
  const pages = await Promise.all(['watch:', 'watcher:', 'watching:'].map((kind) => store.page(kind)));
  return pages.flat().map(({ key }) => key.split(':')[0] ?? '');
}

describe('the watch of a resource in several processes', () => {
  it('starts in the process of the first subscriber, and stops there after the last subscriber of all', async () => {
    const { store, record, start } = world();
    let pages = 0;
    const counting = new Proxy(store, {
      get(target, name: keyof Store) {
        if (name === 'page') pages++;
        return target[name].bind(target);
      },
    });
    const [a, b] = [start('A', { store: counting }), start('B')];
    const leaveA = a.subscribe(uri);
    await happened(record, 1);
    const leaveB = b.subscribe(uri);
    await both(store);
    leaveA();
    await until('A has asked for other subscribers twice', () => pages >= 2);
    expect(record.events).toEqual(['A starts x://1']);
    leaveB();
    await happened(record, 2);
    expect(record.events).toEqual(['A starts x://1', 'A stops x://1']);
    await until(
      'nothing is left but the processes',
      async () => (await keys(store)).join() === 'watching,watching',
    );
    await Promise.all([a.close(), b.close()]);
    expect(await keys(store)).toEqual([]);
  });

  it('is handed over when its process shuts down: it stops there first, starts elsewhere at once, and a change is announced', async () => {
    const { store, record, start } = world();
    const [a, b] = [start('A', { leaseMs: 60_000 }), start('B', { leaseMs: 60_000 })];
    a.subscribe(uri);
    await happened(record, 1);
    b.subscribe(uri);
    record.onUnsubscribe = () => new Promise((resolve) => setTimeout(resolve, 50));
    await both(store);
    await a.close();
    await happened(record, 3);
    expect(record.events).toEqual(['A starts x://1', 'A stops x://1', 'B starts x://1']);
    expect(record.most).toBe(1);
    expect(record.announced).toEqual(['B x://1']);
    await b.close();
  });

  it('is taken over when its process dies, by one of the processes that have subscribers', async () => {
    const { store, record, start } = world();
    const dying = mortalStore(store);
    start('A', { store: dying.store }).subscribe(uri);
    await happened(record, 1);
    const [b, c] = [start('B'), start('C')];
    b.subscribe(uri);
    c.subscribe(uri);
    await until('B and C are recorded', async () => (await store.page('watcher:')).length === 3);
    dying.kill();
    await happened(record, 2);
    const name = record.events[1]?.[0];
    expect(record.events).toEqual(['A starts x://1', `${name} starts x://1`]);
    expect(record.announced).toEqual([`${name} x://1`]);
    // The subscriber that A had does not count any more.
    await Promise.all([b.close(), c.close()]);
    expect(record.events.filter((event) => event.includes('stops')).length).toBeGreaterThan(0);
    await until('the entries of A are gone', async () =>
      (await keys(store)).every((key) => key === 'watcher'),
    );
  });

  it('stops in a process that was paused while another one took over', async () => {
    const { store, record, start } = world();
    const paused = pausableStore(store);
    const a = start('A', { store: paused.store });
    a.subscribe(uri);
    await happened(record, 1);
    const b = start('B');
    b.subscribe(uri);
    await both(store);
    paused.pause();
    await happened(record, 2);
    expect(record.events[1]).toBe('B starts x://1');
    paused.resume();
    await happened(record, 3);
    expect(record.events[2]).toBe('A stops x://1');
    // A follows B now: it takes over when B shuts down.
    await b.close();
    await until('A watches again', () => record.events.at(-1) === 'A starts x://1');
    await a.close();
  });

  it('goes on in its process while the store is unavailable, if no other process has taken over', async () => {
    const { store, record, start } = world();
    let isDown = false;
    const failing = new Proxy(store, {
      get: (target, name: keyof Store) =>
        isDown ? () => Promise.reject(new Error('down')) : target[name].bind(target),
    });
    const a = start('A', { store: failing });
    const leave = a.subscribe(uri);
    await happened(record, 1);
    isDown = true;
    await until('the failure is logged', () => record.messages.length > 0);
    await until('the entry of A has expired', async () => (await store.page('watching:')).length === 0);
    isDown = false;
    await until('A is recorded again', async () => (await store.page('watching:')).length === 1);
    leave();
    await happened(record, 2);
    expect(record.events).toEqual(['A starts x://1', 'A stops x://1']);
    await a.close();
  });

  it('starts as soon as the store is available, and says why it did not before', async () => {
    const { store, record, start } = world();
    let failures = 2;
    const failing = new Proxy(store, {
      get: (target, name: keyof Store) =>
        name === 'write' && failures-- > 0
          ? () => Promise.reject(new Error('down'))
          : target[name].bind(target),
    });
    const a = start('A', { store: failing });
    a.subscribe(uri);
    await happened(record, 1);
    expect(record.messages[0]).toBe('The store could not tell which process watches the resource "x://1"');
    await a.close();
  });

  it('is found by its followers even if the bus loses every message', async () => {
    const { store, record, start } = world();
    const deaf: Bus = {
      publish: async () => undefined,
      subscribe: async () => () => undefined,
      close: async () => undefined,
    };
    const [a, b] = [start('A', { bus: deaf }), start('B', { bus: deaf })];
    a.subscribe(uri);
    await happened(record, 1);
    b.subscribe(uri);
    await both(store);
    await a.close();
    await happened(record, 3);
    expect(record.events).toEqual(['A starts x://1', 'A stops x://1', 'B starts x://1']);
    await b.close();
  });

  it('is never in two processes at once, whatever subscribers come and go and whichever processes shut down', async () => {
    const { store, bus, record } = world();
    const slow = slowStore(store);
    const names = ['A', 'B', 'C'];
    const processes = names.map((name) => startProcess(name, record, { store: slow, bus, leaseMs: 60_000 }));
    const leaves: (() => void)[] = [];
    record.onSubscribe = () => new Promise((resolve) => setTimeout(resolve, random(20)));
    record.onUnsubscribe = () => new Promise((resolve) => setTimeout(resolve, random(20)));
    for (let round = 0; round < 400; round++) {
      // Each process shuts down a few times, so that watches move, whatever chance does.
      const isDue = round % 50 === 49;
      const at = isDue ? Math.floor(round / 50) % 3 : random(3);
      if (!isDue && Math.random() < 0.45 && leaves.length > 0) leaves.splice(random(leaves.length), 1)[0]?.();
      else if (isDue || Math.random() < 0.02) {
        const old = processes[at];
        processes[at] = startProcess(`${names[at]}${round}`, record, { store: slow, bus, leaseMs: 60_000 });
        void old?.close();
      } else leaves.push(processes[at]?.subscribe(`x://${random(5)}`) ?? (() => undefined));
      await new Promise((resolve) => setTimeout(resolve, random(10)));
    }
    for (const leave of leaves) leave();
    await until('no resource is watched', () =>
      [...record.watching.values()].every(({ size }) => size === 0),
    );
    await Promise.all(processes.map((process) => process.close()));
    expect(record.most).toBe(1);
    expect(record.messages).toEqual([]);
    expect(record.events.length).toBeGreaterThan(10);
    expect(await keys(store)).toEqual([]);
  });

  it('is in exactly one of the living processes that have subscribers, after any number of processes have died', async () => {
    const { store, bus, record } = world();
    const uris = Array.from({ length: 5 }, (_, at) => `x://${at}`);
    const begin = (name: string) => {
      const { store: own, kill } = mortalStore(slowStore(store));
      const process = startProcess(name, record, { store: own, bus, leaseMs: 300 });
      return { name, kill, process, leaves: uris.map((each) => process.subscribe(each)) };
    };
    let living = ['A', 'B', 'C'].map(begin);
    const isSettled = () =>
      uris.every((each) => {
        const at = [...(record.watching.get(each) ?? [])];
        return at.length === 1 && living.some(({ name }) => name === at[0]);
      });
    for (let round = 0; round < 6; round++) {
      await until('each resource is watched once', isSettled);
      const dying = living[random(3)];
      dying?.kill();
      for (const at of record.watching.values()) at.delete(dying?.name ?? '');
      living = [...living.filter((each) => each !== dying), begin(`R${round}`)];
    }
    await until('each resource is watched once', isSettled);
    for (const { leaves } of living) for (const leave of leaves) leave();
    await until('no resource is watched', () =>
      [...record.watching.values()].every(({ size }) => size === 0),
    );
    await Promise.all(living.map(({ process }) => process.close()));
    expect((await keys(store)).filter((kind) => kind === 'watch')).toEqual([]);
  });
});

function random(below: number): number {
  return Math.floor(Math.random() * below);
}

const both = (store: Store) =>
  until('both processes are recorded', async () => (await store.page('watcher:')).length === 2);

function pausableStore(inner: Store) {
  let resuming: Promise<void> | undefined;
  let resume: () => void = () => undefined;
  const store = new Proxy(inner, {
    get:
      (target, name: keyof Store) =>
      async (...args: unknown[]) => {
        await resuming;
        return (target[name] as (...all: unknown[]) => unknown)(...args);
      },
  });
  return {
    store,
    pause: () => {
      resuming = new Promise((resolve) => {
        resume = resolve;
      });
    },
    resume: () => {
      resuming = undefined;
      resume();
    },
  };
}

function slowStore(inner: Store): Store {
  return new Proxy(inner, {
    get:
      (target, name: keyof Store) =>
      async (...args: unknown[]) => {
        await new Promise((resolve) => setTimeout(resolve, random(5)));
        return (target[name] as (...all: unknown[]) => unknown)(...args);
      },
  });
}
