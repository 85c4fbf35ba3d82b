import {
  type inProcess,
  memoryStore,
  type Outcome,
  type Store,
  type StoreChange,
  type StoreEntry,
} from 'fullmcp';
import { expect } from 'vitest';
import { until } from './until.js';

const TASKS = 'io.modelcontextprotocol/tasks';

/** A client that supports tasks and can be asked. */
export const able = { capabilities: { elicitation: {}, extensions: { [TASKS]: {} } } };
export const accept = (content: object) => ({ action: 'accept', content });

export type InProcessCall = ReturnType<typeof inProcess>;

/** Waits until a task has this status. */
export async function waitForStatus(
  call: InProcessCall,
  taskId: unknown,
  status: string,
  withinMs?: number,
): Promise<Outcome> {
  let task: Outcome | undefined;
  const hasStatus = async (): Promise<boolean> => {
    task = await call('tasks/get', { taskId });
    return task['status'] === status;
  };
  await until(`the task is ${status}`, hasStatus, withinMs);
  return task as Outcome;
}

/** Lets all pending microtasks and immediates run. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A task as it is in the store. */
export interface StoredTask extends Record<string, unknown> {
  readonly status: string;
  /** The id of the run. */
  readonly run: string | undefined;
  readonly steps: readonly (readonly [string, unknown])[];
  /** The answers that the client gave, in order. */
  readonly answers: readonly (readonly [string, unknown])[];
}

/** Reads a task from a store; undefined if there is none. */
export async function readStoredTask(store: Store, taskId: unknown): Promise<StoredTask | undefined> {
  const head = (await headsIn(store)).find(({ key }) => key.endsWith(`:${taskId}`));
  if (head === undefined) return undefined;
  const place = head.key.slice('task:'.length);
  const items = await store.items(`journal:${place}`);
  const inbox = await store.items(`inbox:${place}`);
  const first = items[0]?.value as { j: { r: string; s: [string, unknown][] } } | undefined;
  return {
    ...(head.value as { status: string }),
    run: first?.j.r,
    steps: [
      ...(first?.j.s ?? []),
      ...items.flatMap(({ value }) => (value['s'] ?? []) as [string, unknown][]),
    ],
    answers: inbox.map(({ value }) => [String(value['key']), value['response']]),
  };
}

/** The entries of all tasks in a store. */
export async function headsIn(store: Store): Promise<readonly StoreEntry[]> {
  const entries: StoreEntry[] = [];
  for (;;) {
    const after = entries.at(-1)?.key;
    const page = await store.page('task:', after === undefined ? {} : { after });
    if (page.length === 0) return entries;
    entries.push(...page);
  }
}

export interface LastingStore {
  readonly store: Store;
  /** Makes every write fail until it is switched off. */
  failing: boolean;
  /** The writes about tasks that were made, in order. */
  readonly writes: (readonly StoreChange[])[];
  readonly entry: (taskId: unknown) => Promise<StoredTask>;
}

/** A store that outlives its servers, and whose writes can be made to fail. */
export function lastingStore(inner: Store = memoryStore()): LastingStore {
  const writes: (readonly StoreChange[])[] = [];
  const lasting: LastingStore = {
    failing: false,
    writes,
    store: {
      ...inner,
      async write(changes, options) {
        if (lasting.failing) throw new Error('The store is away');
        const written = await inner.write(structuredClone(changes), options);
        // Each process also says now and then that it is alive.
        const isSign = changes.some((change) => 'key' in change && change.key.startsWith('task-worker:'));
        if (written.ok && !isSign) writes.push(structuredClone(changes));
        return written;
      },
      close: async () => undefined,
    },
    async entry(taskId) {
      const task = await readStoredTask(inner, taskId);
      expect(task, 'the task in the store').toBeDefined();
      return task as StoredTask;
    },
  };
  return lasting;
}

/** A process as far as its store is concerned: `kill` cuts it off, so that its leases run out. */
export function mortalStore(inner: Store): { readonly store: Store; readonly kill: () => void } {
  let isDead = false;
  const alive = async <T>(work: () => Promise<T>): Promise<T> => {
    // A dead process gets no answer.
    if (isDead) await new Promise(() => undefined);
    const result = await work();
    if (isDead) await new Promise(() => undefined);
    return result;
  };
  return {
    store: {
      get: (key) => alive(() => inner.get(key)),
      page: (prefix, range) => alive(() => inner.page(prefix, range)),
      items: (list, range) => alive(() => inner.items(list, range)),
      write: (changes, options) => alive(() => inner.write(changes, options)),
      claim: (queue, options) => alive(() => inner.claim(queue, options)),
      renew: (leases, ms) => alive(() => inner.renew(leases, ms)),
      size: (queue) => alive(() => inner.size(queue)),
      close: async () => undefined,
    },
    kill: () => {
      isDead = true;
    },
  };
}
