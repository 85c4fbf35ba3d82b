// The subscribers of a type, as the process that looks for them keeps them in memory.

import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Auth } from '../../../protocol/call.js';
import { canonical } from '../../../protocol/canonical.js';
import type { Store, StoreChange } from '../../../state/store.js';
import { placeOfWork, type SubscriptionPlace, typePlace } from './stored/places.js';
import type { SubscriptionHead } from './stored/subscription.js';
import type { WebhookType } from './types.js';

/** A subscriber of a type. */
export interface IndexedSubscriber {
  readonly place: SubscriptionPlace;
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

const PAGE = 1000;
/** The claims that differ in each token of one login. */
const claimsOfToken: readonly string[] = ['iat', 'exp', 'nbf', 'jti', 'auth_time'];

/** The subscribers of one type. They are read again when one has come or gone. */
export class Subscribers {
  readonly #store: Store;
  readonly #type: WebhookType;
  #version: string | undefined;
  #subscribers: readonly IndexedSubscriber[] = [];

  constructor(store: Store, type: WebhookType) {
    this.#store = store;
    this.#type = type;
  }

  /** The subscribers as they are now. */
  async read(): Promise<readonly IndexedSubscriber[]> {
    const keys = typePlace(this.#type.history.group);
    const version = (await this.#store.get(keys.version))?.version;
    if (version === this.#version) return this.#subscribers;
    const subscribers: IndexedSubscriber[] = [];
    for (let after = ''; ; ) {
      const page = await this.#store.page(keys.index, { limit: PAGE, ...(after !== '' && { after }) });
      for (const { key, value } of page) {
        after = key;
        const { group, args, auth } = value as unknown as IndexEntry;
        const place = placeOfWork(`${group}:${key.slice(keys.index.length)}`);
        subscribers.push({ place, auth, input: await this.#inputOf(args) });
      }
      if (page.length < PAGE) break;
    }
    this.#version = version;
    this.#subscribers = subscribers;
    return subscribers;
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

/** The changes that add a subscriber to the index of its type, or change it there. */
export function indexChanges(
  typeGroup: string,
  place: SubscriptionPlace,
  { args, auth, birth }: SubscriptionHead,
): readonly StoreChange[] {
  const keys = typePlace(typeGroup);
  const value = { group: place.group, args, auth, birth };
  return [
    { do: 'put', key: keys.index + place.id, value: { ...value } },
    { do: 'put', key: keys.version, value: { at: crypto.randomUUID() } },
  ];
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
  const keys = typePlace(typeGroup);
  const entry = await store.get(keys.index + place.id);
  // The entry is read first: another subscription that takes its place changes it.
  if (entry === undefined || !(await isOver(entry.value['birth']))) return;
  await store.write([
    { do: 'delete', key: entry.key, if: { version: entry.version } },
    { do: 'put', key: keys.version, value: { at: crypto.randomUUID() } },
  ]);
}

/** Whether two callers have the same rights, as far as the index has to know: a new token of the same login changes nothing. */
export function isSameCaller(one: Auth, other: Auth): boolean {
  return canonical(withoutToken(one)) === canonical(withoutToken(other));
}

function withoutToken({ expiresAt: _, claims, ...rest }: Auth): unknown {
  const kept = Object.entries(claims).filter(([name]) => !claimsOfToken.includes(name));
  return { ...rest, claims: Object.fromEntries(kept) };
}
