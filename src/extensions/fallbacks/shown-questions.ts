// The questions of tasks that clients fetch themselves: when they were first fetched, and whether their host has cancelled them by itself.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { canonical, digestOf } from '../../protocol/canonical.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import type { Store } from '../../state/store.js';
import { callerGroup } from '../../state/store-shares.js';
import { isRefusal } from './cancelled-soon.js';

/** The time for which a task is remembered as one whose question nobody has seen. */
const UNSEEN_MS = 24 * 3_600_000;
/** A question that is fetched again after this time was certainly fetched before. */
const FETCHED_MS = 3_600_000;

/** An open question of a task. */
export type FetchedQuestion = readonly [key: string, request: JsonObject];

/** Knows when questions of tasks were first fetched, in any process of the server. */
export class ShownQuestions {
  readonly #server: string;
  readonly #store: Store;

  constructor(server: string, store: Store) {
    this.#server = server;
    this.#store = store;
  }

  /** Notes that the questions of a task are on their way to the host. */
  async note(call: Call, task: JsonObject): Promise<void> {
    const value = { at: Date.now() };
    const keys = questionsOf(task).map((question) => this.#fetchedKey(call, task, question));
    for (const key of await Promise.all(keys))
      await this.#store
        .write([{ do: 'put', key, value, ttlMs: FETCHED_MS, if: 'absent' }])
        // Without the note, the question counts as fetched when it was asked.
        .catch(() => undefined);
  }

  /** The keys of the questions that were refused within `ms`: sooner than anybody can have read them. */
  async cancelledSoon(call: Call, task: JsonObject, ms: number): Promise<readonly string[]> {
    const { inputResponses } = call.params;
    const responses = isObject(inputResponses) ? inputResponses : {};
    const soon: string[] = [];
    for (const question of questionsOf(task)) {
      const [key, request] = question;
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (!isRefusal(response) || !isElicitation(request)) continue;
      const fetched = await this.#store.get(await this.#fetchedKey(call, task, question));
      const at = fetched?.value['at'] ?? Date.parse(String(task['lastUpdatedAt']));
      if (Date.now() - Number(at) < ms) soon.push(key);
    }
    return soon;
  }

  /** Notes that nobody has seen a question of the task: its client counts as one that cannot ask. */
  async noteUnseen(call: Call, id: string): Promise<void> {
    const key = await this.#unseenKey(call, id);
    await this.#store.write([{ do: 'put', key, value: {}, ttlMs: UNSEEN_MS }]);
  }

  async isUnseen(call: Call, id: string): Promise<boolean> {
    return (await this.#store.get(await this.#unseenKey(call, id))) !== undefined;
  }

  async #unseenKey(call: Call, id: string): Promise<string> {
    return `unseen:${await callerGroup(this.#server, principalOf(call))}:${id}`;
  }

  async #fetchedKey(call: Call, { taskId }: JsonObject, question: FetchedQuestion): Promise<string> {
    const group = await callerGroup(this.#server, principalOf(call));
    return `fetched:${group}:${encodeBase64Url(await digestOf(canonical([taskId, ...question])))}`;
  }
}

/** Whether a request asks the user. */
export function isElicitation({ method }: JsonObject): boolean {
  return method === 'elicitation/create';
}

/** The open questions of a task. */
export function questionsOf({ inputRequests }: JsonObject): readonly FetchedQuestion[] {
  return Object.entries((inputRequests ?? {}) as Record<string, JsonObject>);
}
