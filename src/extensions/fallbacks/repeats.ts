// Finds the task of a call that the model repeats, because its host or the model has given up the first one.

import type { Call } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { canonical, digestOf } from '../../protocol/canonical.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import type { Store } from '../../state/store.js';
import { callerGroup } from '../../state/store-shares.js';

/** The time for which an equal call finds the task. */
const WINDOW_MS = 3_600_000;
const MAX_CONFLICTS = 20;

/** The place of the calls of one caller to a tool with the same arguments. */
export interface RepeatedCall {
  readonly group: string;
  readonly key: string;
}

/** The tasks of earlier calls, by caller, tool and arguments. */
export class Repeats {
  readonly #server: string;
  readonly #store: Store;

  constructor(server: string, store: Store) {
    this.#server = server;
    this.#store = store;
  }

  /** The place of a call; undefined for anonymous callers of HTTP, who may be several people. */
  async placeOf(call: Call): Promise<RepeatedCall | undefined> {
    if (call.auth === undefined && call.isLocal !== true) return undefined;
    const { name, arguments: args = {} } = call.params;
    const group = await callerGroup(this.#server, principalOf(call));
    const digest = await digestOf(canonical([name, args]));
    return { group, key: `repeat:${group}:${encodeBase64Url(digest)}` };
  }

  /** The id of the task of an equal call; undefined if there is none, or the model has its result. */
  async find(place: RepeatedCall): Promise<string | undefined> {
    const entry = await this.#store.get(place.key);
    const id = entry?.value['id'];
    if (typeof id !== 'string') return undefined;
    return (await this.#store.get(toldKey(place.group, id))) === undefined ? id : undefined;
  }

  /** The id for the task of a call: that of an equal call, in whatever process it is, or else a new one. */
  async claim(place: RepeatedCall): Promise<string> {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const found = await this.find(place);
      if (found !== undefined) return found;
      const entry = await this.#store.get(place.key);
      const id = crypto.randomUUID();
      const condition = entry === undefined ? ('absent' as const) : { version: entry.version };
      const value = { id };
      const written = await this.#store.write([
        { do: 'put', key: place.key, value, ttlMs: WINDOW_MS, if: condition },
      ]);
      if (written.ok) return id;
    }
    return crypto.randomUUID();
  }

  /** Remembers the task that a call has become. */
  async note(place: RepeatedCall, id: string): Promise<void> {
    await this.#store.write([{ do: 'put', key: place.key, value: { id }, ttlMs: WINDOW_MS }]);
  }

  /** Notes that the model has the result of a task: the next equal call is a new one. */
  async told(call: Call, id: string): Promise<void> {
    if (call.auth === undefined && call.isLocal !== true) return;
    const group = await callerGroup(this.#server, principalOf(call));
    await this.#store.write([{ do: 'put', key: toldKey(group, id), value: {}, ttlMs: WINDOW_MS }]);
  }
}

function toldKey(group: string, id: string): string {
  return `told:${group}:${id}`;
}
