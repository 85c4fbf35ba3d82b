import { type inProcess, memoryStore, type Outcome, type Store } from 'fullmcp';
import { expect } from 'vitest';
import { until } from './until.js';

const TASKS = 'io.modelcontextprotocol/tasks';

/** A client that supports tasks and can be asked. */
export const able = { capabilities: { elicitation: {}, extensions: { [TASKS]: {} } } };
export const accept = (content: object) => ({ action: 'accept', content });

export type InProcessCall = ReturnType<typeof inProcess>;

/** Waits until a task has this status. */
export async function waitForStatus(call: InProcessCall, taskId: unknown, status: string): Promise<Outcome> {
  let task: Outcome | undefined;
  await until(`the task is ${status}`, async () => {
    task = await call('tasks/get', { taskId });
    return task['status'] === status;
  });
  return task as Outcome;
}

/** Lets all pending microtasks and immediates run. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export interface LastingStore {
  readonly store: Store;
  /** Makes every write fail until it is switched off. */
  failing: boolean;
  /** The writes, in order. */
  readonly writes: Record<string, unknown>[];
  readonly entry: (taskId: unknown) => Promise<Record<string, unknown>>;
  readonly put: (taskId: unknown, fields: Record<string, unknown>) => Promise<void>;
}

/** A store that outlives its servers, and whose writes can be made to fail. */
export function lastingStore(inner: Store = memoryStore()): LastingStore {
  const writes: Record<string, unknown>[] = [];
  const lasting: LastingStore = {
    failing: false,
    writes,
    store: {
      ...inner,
      async set(key, value, expiresAt) {
        if (lasting.failing) throw new Error('The store is away');
        writes.push(structuredClone(value));
        await inner.set(key, value, expiresAt);
      },
      close: async () => undefined,
    },
    async entry(taskId) {
      const entry = await inner.get(`task:${taskId}`);
      expect(entry, 'the entry of the task').toBeDefined();
      return entry as Record<string, unknown>;
    },
    async put(taskId, fields) {
      const before = (await inner.get(`task:${taskId}`)) ?? {};
      await inner.set(`task:${taskId}`, { ...before, ...fields });
    },
  };
  return lasting;
}
