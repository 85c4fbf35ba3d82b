// The subscribers of a type, as the process that looks for them keeps them in memory.

import { nextTurn } from '../../../async/next-turn.js';
import { Turns } from '../../../async/turns.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Auth } from '../../../protocol/call.js';
import { canonical } from '../../../protocol/canonical.js';
import type { Store, StoreChange, StoreEntry } from '../../../state/store.js';
import { StoreFull } from '../../../state/store-shares.js';
import { countOf } from '../log/head.js';
import { type SubscriptionPlace, type TypePlace, typePlace } from './stored/places.js';
import type { SubscriptionHead } from './stored/subscription.js';
import type { WebhookType } from './types.js';

/** A subscriber of a type. */
export interface IndexedSubscriber {
  /** The key in the queue of deliveries. */
  readonly work: string;
  /** The arguments, as the type reads them. */
  readonly input: unknown;
  readonly auth: Auth;
}

/** The entry of a subscriber in the index of its type. */
interface IndexEntry {
  readonly group: string;
  readonly args: JsonObject;
  readonly auth: Auth;
  readonly birth: string;
}

/** The state of the index that was read. */
interface IndexState {
  /** The version of the entry that counts the changes; undefined if there were none. */
  readonly version: string | undefined;
  /** The number of changes. */
  readonly count: number;
  /** The position of the last one in the list of changes. */
  readonly at: number;
}

/** Of a store in memory, each page costs a look at all keys. */
const PAGE = 5000;
/** The changes that are read at the same time. */
const LANES = 32;
/** The changes that are listed at most. Processes that have not read them all read the index as a whole. */
const MAX_LISTED = 2000;
/** The reads of a list to which changes are added at the same time. */
const MAX_ATTEMPTS = 20;
/** The claims that differ in each token of one login. */
const claimsOfToken: readonly string[] = ['iat', 'exp', 'nbf', 'jti', 'auth_time'];

/**
 * The subscribers of one type. Those that have come, changed or gone are read again, as the list of changes names them. The list is whole
 * if it has as many changes as were counted; if not, all subscribers are read.
 */
export class Subscribers {
  readonly #store: Store;
  readonly #type: WebhookType;
  readonly #keys: TypePlace;
  /** Of two reads at the same time, the later one must not be overwritten by the earlier one. */
  readonly #turns = new Turns();
  #state: IndexState | undefined;
  #subscribers = new Map<string, IndexedSubscriber>();

  constructor(store: Store, type: WebhookType) {
    this.#store = store;
    this.#type = type;
    this.#keys = typePlace(type.history.group);
  }

  /** The subscribers as they are now, by their ids. */
  read(): Promise<ReadonlyMap<string, IndexedSubscriber>> {
    return this.#turns.take(async () => {
      const counted = await this.#store.get(this.#keys.count);
      if (this.#state === undefined || this.#state.version !== counted?.version)
        this.#state = (this.#state && (await this.#readChanges(this.#state))) ?? (await this.#readAll());
      return this.#subscribers;
    });
  }

  /** Reads what has changed since a state. Undefined if the list does not have all of it. */
  async #readChanges({ at, count }: IndexState): Promise<IndexState | undefined> {
    const changed = new Set<string>();
    let [last, found] = [at, 0];
    let version: string | undefined;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      for (const item of await this.#store.items(this.#keys.changes, { after: last })) {
        changed.add(String(item.value['id']));
        last = item.at;
        found++;
      }
      // Each change is counted in the write that lists it, so none is missing if both numbers are the same.
      const counted = await this.#store.get(this.#keys.count);
      const missing = countOf(counted?.value) - count - found;
      if (missing === 0) {
        await this.#readEach([...changed]);
        return { version: counted?.version, count: count + found, at: last };
      }
      // Changes are missing although none was made in the meantime, so the list has begun anew.
      if (missing < 0 || counted?.version === version) return undefined;
      version = counted?.version;
    }
    return undefined;
  }

  async #readEach(ids: readonly string[]): Promise<void> {
    const rest = ids.values();
    const lane = async (): Promise<void> => {
      for (const id of rest) {
        const entry = await this.#store.get(this.#keys.index + id);
        if (entry === undefined) this.#subscribers.delete(id);
        else this.#subscribers.set(id, await this.#subscriberOf(id, entry));
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }

  async #readAll(): Promise<IndexState> {
    const state = await this.#readState();
    const subscribers = new Map<string, IndexedSubscriber>();
    const { index } = this.#keys;
    for (let after = ''; ; ) {
      const page = await this.#store.page(index, { limit: PAGE, ...(after !== '' && { after }) });
      for (const entry of page) {
        const id = entry.key.slice(index.length);
        subscribers.set(id, await this.#subscriberOf(id, entry));
        after = entry.key;
      }
      if (page.length < PAGE) break;
      // A store in memory responds at once, and other work of the process would wait for all pages.
      await new Promise<void>(nextTurn);
    }
    this.#subscribers = subscribers;
    return state;
  }

  /** The state of the list before the index is read. */
  async #readState(): Promise<IndexState> {
    for (let attempt = 1; ; attempt++) {
      const before = await this.#store.get(this.#keys.count);
      const at = (await this.#store.items(this.#keys.changes)).at(-1)?.at ?? -1;
      const after = await this.#store.get(this.#keys.count);
      const version = after?.version;
      // If changes are made all the time, the number does not belong to the position, and the next read is one of all, too.
      if (version === before?.version || attempt === MAX_ATTEMPTS)
        return { version: before?.version, count: countOf(before?.value), at };
    }
  }

  async #subscriberOf(id: string, { value }: StoreEntry): Promise<IndexedSubscriber> {
    const { group, args, auth } = value as unknown as IndexEntry;
    return { work: `${group}:${id}`, auth, input: await this.#inputOf(args) };
  }

  // Arguments that the type does not accept any more: the delivery finds that out, and ends the subscription.
  async #inputOf(args: JsonObject): Promise<unknown> {
    try {
      return await this.#type.read(args);
    } catch {
      return args;
    }
  }
}

/** Adds a subscriber to the index of its type, or changes it there. */
export async function addToIndex(
  store: Store,
  typeGroup: string,
  { place, head }: { readonly place: SubscriptionPlace; readonly head: SubscriptionHead },
): Promise<void> {
  const { args, auth, birth } = head;
  const value = { group: place.group, args, auth, birth };
  const key = typePlace(typeGroup).index + place.id;
  await changeIndex(store, { typeGroup, place }, { do: 'put', key, value });
}

/** Removes a subscriber from the index, if the subscription of its entry is over. */
export async function removeFromIndex(
  store: Store,
  typeGroup: string,
  {
    place,
    isOver,
  }: { readonly place: SubscriptionPlace; readonly isOver: (birth: unknown) => boolean | Promise<boolean> },
): Promise<void> {
  const entry = await store.get(typePlace(typeGroup).index + place.id);
  // The entry is read first: another subscription that takes its place changes it.
  if (entry === undefined || !(await isOver(entry.value['birth']))) return;
  const { key, version } = entry;
  await changeIndex(store, { typeGroup, place }, { do: 'delete', key, if: { version } });
}

/** Makes a change of the index, and lists it. A list that is full begins anew, and so does one that takes the last room of the store. */
async function changeIndex(
  store: Store,
  { typeGroup, place }: { readonly typeGroup: string; readonly place: SubscriptionPlace },
  change: StoreChange,
): Promise<void> {
  const { changes: list, count, listed } = typePlace(typeGroup);
  for (;;) {
    let full: StoreFull | undefined;
    try {
      const written = await store.write([
        { do: 'count', key: listed, by: 1, max: MAX_LISTED },
        change,
        { do: 'append', list, name: crypto.randomUUID(), value: { id: place.id } },
        { do: 'count', key: count, by: 1 },
      ]);
      if (written.ok || written.refusedBy !== 0) return;
    } catch (error) {
      if (!(error instanceof StoreFull)) throw error;
      full = error;
    }
    const entry = await store.get(listed);
    if (entry === undefined && full !== undefined) throw full;
    if (entry === undefined) continue;
    await store.write([
      { do: 'delete', key: listed, if: { version: entry.version } },
      { do: 'drop', list },
    ]);
  }
}

/** Whether two callers have the same rights, as far as the index has to know: a new token of the same login changes nothing. */
export function isSameCaller(one: Auth, other: Auth): boolean {
  return canonical(withoutToken(one)) === canonical(withoutToken(other));
}

function withoutToken({ expiresAt: _, claims, ...rest }: Auth): unknown {
  const kept = Object.entries(claims).filter(([name]) => !claimsOfToken.includes(name));
  return { ...rest, claims: Object.fromEntries(kept) };
}
