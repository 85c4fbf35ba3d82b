import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Lease, Put, Store, StoreChange, Version, Written } from '../../../state/store.js';
import { callerGroup } from '../../../state/store-shares.js';
import type { Sealer } from './sealer.js';

/** The kinds of records in the store. Records with one id are in one group, so that one write can change them together. */
export type RecordKind =
  /** A login on its way through the provider. */
  | 'oauth-login'
  /** A completed login, with the tokens of the provider. */
  | 'oauth-grant'
  /** There for as long as the previous refresh token of a grant may be repeated. */
  | 'oauth-grace'
  /** A client that registered itself. */
  | 'oauth-client'
  /** The number of registrations in a period. */
  | 'oauth-registrations'
  /** An assertion of a client that was used. */
  | 'oauth-assertion';

/** A record as it was read. */
export interface Recorded {
  readonly value: JsonObject;
  readonly version: Version;
  readonly expiresInMs: number | undefined;
  /** Whether it is sealed with an older secret. */
  readonly isOld: boolean;
}

/**
 * The records of the proxy in the store of the server. Each is sealed for its own key: the store holds no token, no name and no
 * address in the clear, and a record that was changed or moved there does not open.
 */
export class Records {
  readonly #store: Store;
  readonly #sealer: Sealer;
  readonly #owner: string;

  constructor(parts: { readonly store: Store; readonly sealer: Sealer; readonly owner: string }) {
    this.#store = parts.store;
    this.#sealer = parts.sealer;
    this.#owner = parts.owner;
  }

  /** The group of the records with an id. */
  group(id: string): Promise<string> {
    return callerGroup(this.#owner, id);
  }

  async key(kind: RecordKind, id: string): Promise<string> {
    return `${kind}:${await this.group(id)}`;
  }

  /** Reads a record; undefined if there is none. */
  async read(kind: RecordKind, id: string): Promise<Recorded | undefined> {
    const key = await this.key(kind, id);
    const entry = await this.#store.get(key);
    const sealed = entry?.value['sealed'];
    if (entry === undefined || typeof sealed !== 'string') return undefined;
    const value = await this.#sealer.open(kind, sealed, key);
    if (value === undefined) return undefined;
    const isOld = await this.#sealer.isOld(sealed);
    return { value, version: entry.version, expiresInMs: entry.expiresInMs, isOld };
  }

  /** Whether there is a record, whatever it contains. */
  async has(kind: RecordKind, id: string): Promise<boolean> {
    return (await this.#store.get(await this.key(kind, id))) !== undefined;
  }

  /** The change that writes a record. */
  async put(
    kind: RecordKind,
    id: string,
    { value, ...conditions }: { readonly value: JsonObject } & Pick<Put, 'if' | 'ttlMs'>,
  ): Promise<Put> {
    const key = await this.key(kind, id);
    return { do: 'put', key, value: { sealed: await this.#sealer.seal(kind, value, key) }, ...conditions };
  }

  async remove(kind: RecordKind, id: string, version?: Version): Promise<StoreChange> {
    return { do: 'delete', key: await this.key(kind, id), ...(version !== undefined && { if: { version } }) };
  }

  /** Makes changes of records with one id: all, or none. With `guard`, they are made only while that lease is held. */
  write(changes: readonly StoreChange[], guard?: Lease): Promise<Written> {
    return this.#store.write(changes, guard === undefined ? {} : { guard });
  }
}
