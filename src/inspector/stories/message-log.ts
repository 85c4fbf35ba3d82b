// The messages that were seen: the heads of the latest, and as many bodies as fit into memory.

import type { MessageHead, MessageText } from '../contract/message.js';
import { nameOf } from '../wiretap/channel.js';
import type { SeenMessage } from '../wiretap/seen.js';

const MAX_HEADS = 20_000;
const MAX_TEXTS = 64 * 1024 * 1024;
const PREVIEW = 200;
/** Dropped together: an array is not moved for each message. */
const DROPPED = 1000;

export class MessageLog {
  #heads: MessageHead[] = [];
  readonly #texts = new Map<number, { readonly text: string; readonly isCut: boolean }>();
  #textLength = 0;
  /** No text before this one is kept. */
  #oldest = 1;
  #last = 0;

  /** Keeps a message. `says` are its words, if it is a log message or progress. */
  add(connection: string, seen: SeenMessage, says?: string): MessageHead {
    const seq = ++this.#last;
    const head = headOf(seq, connection, seen, says);
    this.#heads.push(head);
    if (this.#heads.length > MAX_HEADS + DROPPED) this.#heads = this.#heads.slice(-MAX_HEADS);
    this.#keep(seq, seen);
    return head;
  }

  /** The latest heads, oldest first. */
  heads(): readonly MessageHead[] {
    return this.#heads.slice(-MAX_HEADS);
  }

  text(seq: number): MessageText | undefined {
    const kept = this.#texts.get(seq);
    return kept && { seq, ...kept };
  }

  /** Removes the messages for which `isWanted` is false. */
  filter(isWanted: (head: MessageHead) => boolean): void {
    this.#heads = this.#heads.filter((head) => {
      const wanted = isWanted(head);
      if (!wanted) this.#forget(head.seq);
      return wanted;
    });
  }

  #keep(seq: number, { text, isCut }: SeenMessage): void {
    this.#texts.set(seq, { text, isCut });
    this.#textLength += text.length;
    // The numbers grow without a gap. To ask a map for its first key takes longer, the more keys were deleted before it.
    while ((this.#textLength > MAX_TEXTS || this.#texts.size > MAX_HEADS) && this.#oldest < seq)
      this.#forget(this.#oldest++);
  }

  #forget(seq: number): void {
    this.#textLength -= this.#texts.get(seq)?.text.length ?? 0;
    this.#texts.delete(seq);
  }
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

// Field by field: a server may send a hundred thousand messages, and spreads take longer than all the rest.
function headOf(seq: number, connection: string, seen: SeenMessage, says: string | undefined): MessageHead {
  const { scope, at, from, kind, id, text, bytes, answers, http } = seen;
  const head: Mutable<MessageHead> = {
    seq,
    connection,
    story: scope.story,
    at,
    from,
    kind,
    bytes,
    preview: text.slice(0, PREVIEW),
  };
  const method = seen.method ?? answers?.method;
  const name = nameOf(seen) ?? answers?.name;
  if (method !== undefined) head.method = method;
  if (name !== undefined) head.name = name;
  if (says !== undefined) head.says = says;
  if (id !== undefined) head.rpcId = id;
  if (answers !== undefined) head.ms = answers.ms;
  if (from === 'server' && http?.status !== undefined) head.status = http.status;
  return head;
}
