import { randomUUID } from 'node:crypto';
import { McpError } from 'fullmcp/client';
import type { OwnResult } from '../history.js';
import type { ClientEvents, LoadClient } from './clients.js';

// The calls of a client, each of which records what the client got.

/** The parts of the load that all calls use. */
export interface CallParts extends ClientEvents {
  /** Called with each request that failed in a way that the client was told of. */
  readonly onFailure: (error: unknown) => void;
  /** Called with the ids of tasks, which other callers try to get. */
  readonly onTask: (task: { readonly id: string; readonly caller: string }) => void;
}

/** A call that a client makes. `turn` is the same for the client of another caller that makes the same call. */
export type LoadCall = (from: LoadClient, turn: string, parts: CallParts) => Promise<void>;

const CALL = { timeoutMs: 30_000, maxTimeoutMs: 120_000 };
const TASK = { timeoutMs: 60_000, maxTimeoutMs: 240_000 };
const TOTAL = 8;

/** A task with five steps and a question. */
export const job: LoadCall = async ({ client, caller }, turn, { saw, onFailure, onTask }) => {
  const id = `${turn} ${randomUUID()}`;
  const task = await client.startTool('job', { id }, CALL).catch(onFailure);
  // Without an id, the client does not know whether there is a task, and nobody waits for it.
  if (task?.id === undefined) return;
  saw({ saw: 'task', job: id, caller });
  onTask({ id: task.id, caller });
  try {
    const { data, text, isError } = await task.result(TASK);
    if (isError) throw new Error(text);
    const result = data as OwnResult & { readonly nonces: readonly string[] };
    saw({ saw: 'job', job: id, caller, result });
  } catch (error) {
    const state = await client.task(task.id).status(CALL).catch(String);
    saw({ saw: 'failure', job: id, caller, reason: `${String(error)} ${JSON.stringify(state)}` });
  }
};

/** A payment with an idempotency key, which another caller uses for a payment of its own. */
export const pay: LoadCall = async ({ client, caller }, turn, { saw, onFailure }) => {
  for (let attempt = 0; attempt < 20; attempt++) {
    try {
      const { data } = await client.callTool('pay', { id: turn }, { ...CALL, idempotencyKey: turn });
      saw({ saw: 'payment', payment: turn, caller, result: data as OwnResult & { readonly nonce: string } });
      return;
    } catch (error) {
      onFailure(error);
      // The client knows that the outcome is unknown: it must not repeat the call with another key.
      if (JSON.stringify(McpError.is(error) ? error.data : undefined)?.includes('unknown_outcome')) return;
    }
  }
};

/** A call that reports its progress in a stream. */
export const slow: LoadCall = async ({ client, caller }, turn, { saw, onFailure }) => {
  const call = `${turn} ${randomUUID()}`;
  const progress: number[] = [];
  const onProgress = (report: { readonly progress: number }): void => void progress.push(report.progress);
  const result = await client
    .callTool('slow', { id: call, total: TOTAL }, { ...CALL, onProgress })
    .catch(onFailure);
  saw({ saw: 'stream', call, progress, total: TOTAL, hasResult: result !== undefined });
  if (result !== undefined) saw({ saw: 'result', call, caller, result: result.data as OwnResult });
};

/** A call that asks twice. */
export const ask: LoadCall = (from, turn, parts) => plain('ask', from, turn, parts);

/** A call that only returns. */
export const echo: LoadCall = (from, turn, parts) => plain('echo', from, turn, parts);

async function plain(
  name: string,
  { client, caller }: LoadClient,
  turn: string,
  { saw, onFailure }: CallParts,
): Promise<void> {
  const call = `${name} ${turn} ${randomUUID()}`;
  const result = await client.callTool(name, { id: call }, CALL).catch(onFailure);
  if (result !== undefined) saw({ saw: 'result', call, caller, result: result.data as OwnResult });
}
