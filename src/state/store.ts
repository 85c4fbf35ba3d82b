// The contract of a store: entries, lists and queues that all processes of a server share.

import type { JsonObject } from '../jsonrpc/message.js';

/**
 * Keeps everything that must outlive a process: tasks, the outcomes of calls with an idempotency key, records of used answers,
 * sessions that have ended. All processes of a server share one store.
 *
 * - When `write` resolves with `ok`, the changes survive whatever the store survives. When it rejects, they may or may not have
 *   been made. A `RangeError` means that they can never be made; after any other error the server may retry.
 * - Time is measured by the clock of the store, never by that of a process.
 * - A key is `kind:group` or `kind:group:rest`, a key of a queue is `group` or `group:rest`. One write may only touch one group,
 *   so that a store can be divided by groups.
 */
export interface Store {
  /** Reads an entry; undefined if there is none or it has expired. */
  get(key: string): Promise<StoreEntry | undefined>;
  /** Reads the entries whose keys begin with `prefix`, in the order of the UTF-8 bytes of their keys. */
  page(prefix: string, options?: PageOptions): Promise<readonly StoreEntry[]>;
  /** Reads the items of a list in the order in which they were appended. */
  items(list: string, options?: ItemsOptions): Promise<readonly ListItem[]>;
  /**
   * Makes all changes, or none of them. With `guard`, they are made only while that lease is held: a process that lost its lease
   * cannot write, however late its write arrives.
   */
  write(
    changes: readonly StoreChange[],
    options?: {
      /** The lease that must be held. Default: none. */
      readonly guard?: Lease;
    },
  ): Promise<Written>;
  /** Takes work that is due and that nobody holds, the longest due first. The leases end after `ms`, unless they are renewed. */
  claim(queue: string, options: ClaimOptions): Promise<readonly Lease[]>;
  /** Extends leases to `ms` from now. Returns those that are still held; a lease that has ended is held until another claim. */
  renew(leases: readonly Lease[], ms: number): Promise<readonly Lease[]>;
  /** The number of keys in a queue, held or not. */
  size(queue: string): Promise<number>;
  /** Closes the store. Called when the server closes. */
  close(): Promise<void>;
}

/** Identifies one state of an entry. No two states of an entry ever have the same version, even if it was deleted in between. */
export type Version = string;

/** An entry as it was read. */
export interface StoreEntry {
  /** The key of the entry. */
  readonly key: string;
  /** The value that was written last. */
  readonly value: JsonObject;
  /** Identifies this state of the entry. */
  readonly version: Version;
  /** The time until the entry expires; undefined if it never does. */
  readonly expiresInMs: number | undefined;
}

/** The range of a page. */
export interface PageOptions {
  /** The key after which the page begins. Default: the first one. */
  readonly after?: string;
  /** The largest number of entries. Default: 100. */
  readonly limit?: number;
}

/** The range of items to read. */
export interface ItemsOptions {
  /** The position of the item after which reading begins. Default: the first one. */
  readonly after?: number;
}

/** An item of a list. */
export interface ListItem {
  /** Grows from item to item. It need not be contiguous. */
  readonly at: number;
  /** The name of the item, which no other item of the list has. */
  readonly name: string;
  /** The value of the item. */
  readonly value: JsonObject;
}

/** The right to work on a key of a queue. */
export interface Lease {
  /** The name of the queue. */
  readonly queue: string;
  /** The key in the queue. */
  readonly key: string;
  /** Grows with every claim of any key, and never starts again. */
  readonly token: number;
  /** How often the key was claimed since it was enqueued or released, this time included. */
  readonly attempt: number;
}

/** The options of `claim`. */
export interface ClaimOptions {
  /** The process that claims, for people who look into the store. */
  readonly owner: string;
  /** The largest number of leases. */
  readonly limit: number;
  /** The time until the leases end. */
  readonly ms: number;
}

/** One change of a write. */
export type StoreChange = Put | Delete | Append | Drop | Expect | Enqueue | Release | Dequeue | Count;

/** Writes an entry. */
export interface Put {
  readonly do: 'put';
  readonly key: string;
  readonly value: JsonObject;
  /** Refuses the write if there is an entry (`absent`), or if the entry does not have this version. Default: never. */
  readonly if?: 'absent' | { readonly version: Version };
  /** The time until the entry expires. Default: as before; a new entry never expires. */
  readonly ttlMs?: number;
}

/** Removes an entry, if there is one. */
interface Delete {
  readonly do: 'delete';
  readonly key: string;
  /** Refuses the write if the entry does not have this version. Default: never. */
  readonly if?: { readonly version: Version };
}

/** Adds an item to the end of a list. Refuses the write if the list has an item of this name. */
export interface Append {
  readonly do: 'append';
  readonly list: string;
  readonly name: string;
  readonly value: JsonObject;
  /** The time until the whole list expires, from now on. Default: as before; a new list never expires. */
  readonly ttlMs?: number;
}

/** Removes a list with all its items. */
interface Drop {
  readonly do: 'drop';
  readonly list: string;
}

/** Refuses the write if a list does not have this number of items. */
interface Expect {
  readonly do: 'expect';
  readonly list: string;
  readonly size: number;
}

/**
 * Puts a key into a queue. If the key is there and nobody holds it, it is due at the earlier of both times. If it is held, nothing
 * changes: the process that holds it must look for news before it releases it (see `Expect`).
 */
interface Enqueue {
  readonly do: 'enqueue';
  readonly queue: string;
  readonly key: string;
  /** The time until the key is due. Default: 0. */
  readonly inMs?: number;
  /** Claims the key at once, as its first attempt. Refuses the write if the key is already in the queue. */
  readonly hold?: { readonly owner: string; readonly ms: number };
}

/** Ends the lease that guards the write. The key is due again after `inMs`. */
interface Release {
  readonly do: 'release';
  readonly inMs: number;
  /** Whether the next claim counts on from this attempt. Default: it is the first attempt again. */
  readonly keepAttempt?: boolean;
}

/** Removes a key from a queue. A process that holds it loses its lease. */
export interface Dequeue {
  readonly do: 'dequeue';
  readonly queue: string;
  readonly key: string;
}

/** Adds to the number in an entry `{ count }`, which is never negative and is removed at 0. */
export interface Count {
  readonly do: 'count';
  readonly key: string;
  readonly by: number;
  /** Refuses the write if the number would grow beyond this. Default: no limit. */
  readonly max?: number;
  /** The time until the entry expires, from its first count on. Default: never. */
  readonly ttlMs?: number;
}

/** The result of a write. */
export type Written =
  | {
      /** Whether the changes were made. */
      readonly ok: true;
      /** The lease of the change `enqueue` with `hold`. */
      readonly lease?: Lease;
    }
  | {
      /** Whether the changes were made. */
      readonly ok: false;
      /** The lease that is no longer held, or the index of the first change whose condition is not met. Nothing was changed. */
      readonly refusedBy: 'guard' | number;
    };
