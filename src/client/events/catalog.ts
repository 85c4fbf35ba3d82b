// The types of events of a server, as the subscriptions of a client know them.

import { delay } from '../../async/delay.js';
import type { ListedEvent } from '../model/events.js';

export interface CatalogParts {
  /** Lists all types. */
  readonly list: () => AsyncIterable<ListedEvent>;
  readonly problem: (message: string, cause?: unknown) => void;
  /** Aborts when the client closes. */
  readonly closing: AbortSignal;
}

/** The least time between two lists that a server asks for by saying that its list has changed. */
const LISTING_MS = 1000;

/** Lists the types once for all subscriptions, and again when the server says that they have changed. */
export class EventCatalog {
  readonly #parts: CatalogParts;
  #types: Promise<ReadonlyMap<string, ListedEvent>> | undefined;
  #isListing = false;
  #isStale = false;

  constructor(parts: CatalogParts) {
    this.#parts = parts;
  }

  /** Finds a type. One that was not there, or is looked up with `fresh`, is looked up in a new list. */
  async find(
    name: string,
    { fresh = false }: { readonly fresh?: boolean } = {},
  ): Promise<ListedEvent | undefined> {
    const known = fresh ? undefined : (await this.#types)?.get(name);
    return known ?? (await this.#list()).get(name);
  }

  /** The server says that its list has changed. */
  async changed(): Promise<void> {
    this.#isStale = true;
    if (this.#isListing || this.#types === undefined) return;
    this.#isListing = true;
    const { closing, problem } = this.#parts;
    while (this.#isStale && !closing.aborted) {
      this.#isStale = false;
      await this.#list().catch((error: unknown) =>
        problem('The events of the server could not be listed', error),
      );
      await delay(LISTING_MS, { signal: closing, unref: true }).catch(() => undefined);
    }
    this.#isListing = false;
  }

  #list(): Promise<ReadonlyMap<string, ListedEvent>> {
    const types = this.#read();
    this.#types = types;
    types.catch(() => {
      if (this.#types === types) this.#types = undefined;
    });
    return types;
  }

  async #read(): Promise<ReadonlyMap<string, ListedEvent>> {
    const types = new Map<string, ListedEvent>();
    for await (const type of this.#parts.list()) if (!types.has(type.name)) types.set(type.name, type);
    return types;
  }
}
