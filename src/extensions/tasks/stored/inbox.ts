// The answers to a task's questions, as any process appends them.

import { encodeBase64Url } from '../../../protocol/encoding/base64.js';
import { sha256 } from '../../../protocol/encoding/sha256.js';
import { sizeOf } from '../../../server/asking/size.js';
import type { Append, ListItem } from '../../../state/store.js';
import type { TaskPlace } from './keys.js';
import type { TaskHead } from './task.js';

/** An answer in the inbox. */
export interface Answer {
  readonly key: string;
  /** The round in which the question was asked. */
  readonly round: number;
  readonly response: unknown;
  /** When the answer arrived. */
  readonly at: number;
  /** Identifies the request that brought the answer. */
  readonly by: string;
}

/** The answers to a task, by key and round. */
export class Inbox {
  readonly #rounds = new Map<string, Map<number, Answer>>();
  /** The number of items that were read. */
  size = 0;
  bytes = 0;
  /** The position of the last item that was read. */
  lastAt: number | undefined;

  constructor(items: readonly ListItem[] = []) {
    this.add(items);
  }

  /** Adds items that were read. Returns their answers. */
  add(items: readonly ListItem[]): readonly Answer[] {
    const answers: Answer[] = [];
    for (const { at, value } of items) {
      // Two reads at the same time may return the same item.
      if (this.lastAt !== undefined && at <= this.lastAt) continue;
      this.lastAt = at;
      this.size++;
      this.bytes += sizeOf(JSON.stringify(value));
      const answer = value as unknown as Answer;
      const rounds = this.#rounds.get(answer.key) ?? new Map<number, Answer>();
      this.#rounds.set(answer.key, rounds);
      rounds.set(answer.round, answer);
      answers.push(answer);
    }
    return answers;
  }

  find(key: string, round: number): Answer | undefined {
    return this.#rounds.get(key)?.get(round);
  }

  /** The last round in which this question was answered; 0 if it never was. */
  lastRound(key: string): number {
    return Math.max(0, ...(this.#rounds.get(key)?.keys() ?? []));
  }

  /** The task as a client sees it: a question that was answered is no longer open, even if its handler has not seen the answer. */
  view(head: TaskHead): TaskHead {
    if (head.status !== 'input_required') return head;
    const open = head.open.filter(([key, round]) => this.find(key, round) === undefined);
    if (open.length === head.open.length) return head;
    const times = head.open.map(([key, round]) => this.find(key, round)?.at ?? 0);
    const updatedAt = Math.max(head.updatedAt, ...times);
    return { ...head, open, updatedAt, status: open.length === 0 ? 'working' : 'input_required' };
  }
}

/** The change that appends an answer. Only the first answer to a question in a round is accepted, wherever it arrives. */
export function appendAnswer({ inbox }: TaskPlace, answer: Answer, ttlMs: number): Append {
  return {
    do: 'append',
    list: inbox,
    name: `${answer.round}:${nameOf(answer.key)}`,
    value: { ...answer },
    ...(ttlMs !== Number.POSITIVE_INFINITY && { ttlMs }),
  };
}

// A key is a string of any length and with any characters, which the name of an item is not.
function nameOf(key: string): string {
  if (/^[^\p{Cc}\p{Cs}]{1,100}$/u.test(key)) return `k${key}`;
  return `d${encodeBase64Url(sha256(new TextEncoder().encode(JSON.stringify(key))))}`;
}
