// The requests of clients that change a task: answers and cancellations, for tasks that any process may hold.

import type { JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { isTerminal } from '../../protocol/tasks.js';
import { sizeOf } from '../../server/asking/size.js';
import type { Store, StoreChange } from '../../state/store.js';
import { endTask } from './stored/endings.js';
import { type Answer, appendAnswer, Inbox } from './stored/inbox.js';
import type { TaskKeys, TaskPlace } from './stored/keys.js';
import { savingError } from './stored/saving-errors.js';
import { readHead, type StoredHead } from './stored/task.js';

/** A task as it is in the store. */
export interface ReadTask extends StoredHead {
  readonly inbox: Inbox;
}

/** The parts of the server that these requests need. */
export interface RequestParts {
  readonly store: Store;
  readonly keys: TaskKeys;
}

// Each conflict means that another process has changed the task meanwhile.
const MAX_CONFLICTS = 100;

/**
 * Reads a task; undefined if there is none or it has expired. The head is read again after the inbox: if the task continued between
 * the two reads, its inbox may be gone, and a question that was answered would look open.
 */
export async function readTask(store: Store, place: TaskPlace): Promise<ReadTask | undefined> {
  const first = await readStoredHead(store, place);
  if (first?.head.status !== 'input_required') return first && { ...first, inbox: new Inbox() };
  const items = await store.items(place.inbox);
  const second = await readStoredHead(store, place);
  return second && { ...second, inbox: new Inbox(items) };
}

async function readStoredHead(store: Store, place: TaskPlace): Promise<StoredHead | undefined> {
  const entry = await store.get(place.head);
  if (entry === undefined) return undefined;
  const stored = readHead(entry, place.id);
  return stored.remainingMs > 0 ? stored : undefined;
}

/** The end of a request: the task was changed, or there was nothing to change, or the caller has no such task. */
export type RequestEnd = 'changed' | 'unchanged' | 'unknown';

/** Puts answers into the inbox of a task. Answers to questions that are not open are ignored. */
export async function answerTask(
  { store, keys, maxAnswerBytes }: RequestParts & { readonly maxAnswerBytes: number },
  place: TaskPlace,
  responses: JsonObject,
): Promise<RequestEnd> {
  const by = crypto.randomUUID();
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
    const task = await readTask(store, place);
    if (task === undefined) return 'unknown';
    if (isTerminal(task.head.status)) return 'unchanged';
    const answers = task.inbox
      .view(task.head)
      .open.filter(([key]) => Object.hasOwn(responses, key))
      .map(([key, round]): Answer => ({ key, round, response: responses[key], at: Date.now(), by }));
    if (answers.length === 0) return 'unchanged';
    checkSize(task.inbox, answers, maxAnswerBytes);
    const changes: StoreChange[] = answers.map((answer) => appendAnswer(place, answer, task.expiresInMs));
    changes.push({ do: 'enqueue', queue: keys.queue, key: place.work });
    try {
      if ((await store.write(changes)).ok) return 'changed';
    } catch (error) {
      // The store may have made the write although it reported a failure.
      const inbox = new Inbox(await store.items(place.inbox).catch(() => Promise.reject(error)));
      if (answers.every(({ key, round }) => inbox.find(key, round)?.by === by)) return 'changed';
      throw error;
    }
  }
  throw tooManyConflicts();
}

function checkSize(inbox: Inbox, answers: readonly Answer[], maxBytes: number): void {
  const bytes = inbox.bytes + answers.reduce((sum, answer) => sum + sizeOf(JSON.stringify(answer)), 0);
  if (bytes <= maxBytes) return;
  throw new McpError(
    'invalid_params',
    `The answers to this task have ${bytes} bytes; the limit is ${maxBytes} (tasks.maxAnswerBytes). Send shorter answers.`,
  );
}

/** Cancels a task, unless it has ended. The process that holds the task can write nothing more. */
export async function cancelTask(
  { store, keys }: RequestParts,
  place: TaskPlace,
  reason: string,
): Promise<RequestEnd> {
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
    const task = await readTask(store, place);
    if (task === undefined) return 'unknown';
    if (isTerminal(task.head.status)) return 'unchanged';
    const { head, version, remainingMs } = task;
    const ending = { status: 'cancelled', statusMessage: reason } as const;
    const { changes } = endTask(keys, place, head, { ending, remainingMs, version });
    try {
      if ((await store.write(changes)).ok) return 'changed';
    } catch (error) {
      // The store may have made the write although it reported a failure.
      const after = await readTask(store, place).catch(() => Promise.reject(error));
      if (after?.head.status === 'cancelled') return 'changed';
      throw error;
    }
  }
  throw tooManyConflicts();
}

function tooManyConflicts(): McpError {
  return new McpError('overloaded', 'The task changes too fast. Try again later.');
}

/** Runs a request, and reports a failure of the store in a sentence that begins with `problem`. */
export async function saving<T>(problem: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw savingError(problem, error);
  }
}
