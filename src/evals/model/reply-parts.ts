// Parts of replies that all APIs have.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryParse } from '../../jsonrpc/try-parse.js';
import { cleanLine } from '../../tooling/clean.js';
import { ModelError, type RequestedCall } from './model.js';

const MAX_ITEMS = 1000;
const MAX_NAME = 200;

/** A call, however a server has written it. `at` is its place among the calls of the reply, for servers that leave the id out. */
export function requestedCall(
  { id, name }: { readonly id: unknown; readonly name: unknown },
  args: unknown,
  at: number,
): RequestedCall {
  const written = typeof args === 'string' ? args : (JSON.stringify(args) ?? '');
  const value = written === '' ? {} : tryParse(written);
  return {
    id: typeof id === 'string' && id !== '' ? id : `call_${at + 1}`,
    name: typeof name === 'string' ? name.slice(0, MAX_NAME) : '',
    args: isObject(value) ? value : undefined,
    written,
  };
}

/** The objects of an array; none if it is something else. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.slice(0, MAX_ITEMS).filter(isObject) : [];
}

/** A number of tokens; 0 if it is something else. */
export function tokenCount(value: unknown): number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? Math.round(value) : 0;
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The error for a stream that reports a failure. */
export function failedStream(error: unknown): ModelError {
  const { message, type, code } = isObject(error) ? error : {};
  const why = stringOf(message) || stringOf(type) || stringOf(code) || 'no reason';
  return new ModelError('broken', `The model failed in the middle of its reply: ${cleanLine(why, 300)}`);
}

/** The error for JSON that is not a reply of the API. */
export function notAReply(what: string): ModelError {
  return new ModelError('unreadable', `The model sent a reply without ${what}.`, { isFinal: true });
}

/** Items by the index that a stream gives them, which a hostile one may choose. */
export class IndexedItems<Item> {
  readonly #items = new Map<number, Item>();

  /** The item at an index; made by `create` if it is new. */
  at(index: unknown, create: () => Item): Item {
    const place = typeof index === 'number' && Number.isSafeInteger(index) ? index : this.#items.size;
    const known = this.#items.get(place);
    if (known !== undefined) return known;
    if (this.#items.size >= MAX_ITEMS)
      throw new ModelError('unreadable', `The reply has more than ${MAX_ITEMS} parts.`, { isFinal: true });
    const item = create();
    this.#items.set(place, item);
    return item;
  }

  get last(): Item | undefined {
    return [...this.#items.values()].at(-1);
  }

  get size(): number {
    return this.#items.size;
  }

  /** The items in the order of their indexes. */
  inOrder(): readonly Item[] {
    return [...this.#items].sort(([one], [other]) => one - other).map(([, item]) => item);
  }
}
