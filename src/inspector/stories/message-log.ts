// The messages that were seen: the heads of the latest, and as many texts as fit into memory.

import type { MessageHead, MessageText } from '../contract/message.js';
import { nameOf } from '../wiretap/channel.js';
import type { SeenMessage } from '../wiretap/seen.js';

export const MAX_HEADS = 20_000;
const MAX_TEXTS = 64 * 1024 * 1024;
const PREVIEW = 200;
/** Dropped together: an array is not moved for each message. */
const DROPPED = 1000;

export class MessageLog {
  #heads: MessageHead[] = [];
  readonly #texts = new Map<number, { readonly text: string; readonly isCut: boolean }>();
  #textLength = 0;
  #last = 0;

  add(connection: string, seen: SeenMessage): MessageHead {
    const seq = ++this.#last;
    const head = headOf(seq, connection, seen);
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
    for (const oldest of this.#texts.keys()) {
      if (this.#textLength <= MAX_TEXTS && this.#texts.size <= MAX_HEADS) break;
      this.#forget(oldest);
    }
  }

  #forget(seq: number): void {
    this.#textLength -= this.#texts.get(seq)?.text.length ?? 0;
    this.#texts.delete(seq);
  }
}

function headOf(seq: number, connection: string, seen: SeenMessage): MessageHead {
  const { scope, at, from, kind, id, text, bytes, answers, http } = seen;
  const method = seen.method ?? answers?.method;
  const name = nameOf(seen) ?? answers?.name;
  return {
    seq,
    connection,
    story: scope.story,
    at,
    from,
    kind,
    ...(method !== undefined && { method }),
    ...(name !== undefined && { name }),
    ...(id !== undefined && { rpcId: id }),
    bytes,
    ...(answers && { ms: answers.ms }),
    preview: text.slice(0, PREVIEW),
    ...(from === 'server' && http?.status !== undefined && { status: http.status }),
  };
}
