// The tag of a list, and the digest of each definition in it.

import type { JsonObject } from '../../../jsonrpc/message.js';
import { canonical, digestOf } from '../../../protocol/canonical.js';
import { encodeBase64Url } from '../../../protocol/encoding/base64.js';

/** A definition as clients list it. */
export interface Listed {
  readonly listed: { readonly name: string; readonly _meta?: unknown };
}

/** A list that a caller sees. */
export interface Snapshot {
  readonly tag: string;
  /** The digest of each definition, by name. */
  readonly definitions: ReadonlyMap<string, string>;
}

/** The fields of a result that its tag does not cover. */
const ENVELOPE = ['resultType', '_meta', 'ttlMs', 'cacheScope', 'tag', 'nextCursor'];

/** Computes snapshots, each of them once. */
export class Snapshots {
  readonly #snapshots = new WeakMap<readonly Listed[], Promise<Snapshot>>();
  readonly #definitions = new WeakMap<Listed['listed'], Promise<string>>();
  readonly #payloads = new WeakMap<JsonObject, Promise<string>>();

  /** The snapshot of all entries that a caller sees. Their order does not matter. */
  of(entries: readonly Listed[]): Promise<Snapshot> {
    return once(this.#snapshots, entries, () => this.#compute(entries));
  }

  async #compute(entries: readonly Listed[]): Promise<Snapshot> {
    const definitions = entries.map(
      async ({ listed }) => [listed.name, await this.definition(listed)] as const,
    );
    const printed = entries.map(({ listed }) => canonical(listed)).sort();
    return { tag: await digest(printed), definitions: new Map(await Promise.all(definitions)) };
  }

  /** The digest of a definition without its `_meta`: a tool is the same before and after it is one of several versions. */
  definition(listed: Listed['listed']): Promise<string> {
    return once(this.#definitions, listed, () => {
      const { _meta, ...definition } = listed;
      return digest(definition);
    });
  }

  /** The tag of a result that is not a list: of everything but its envelope. */
  payload(outcome: JsonObject): Promise<string> {
    return once(this.#payloads, outcome, () => {
      const covered = Object.entries(outcome).filter(([name]) => !ENVELOPE.includes(name));
      return digest(Object.fromEntries(covered));
    });
  }
}

function once<K extends object, V>(known: WeakMap<K, V>, key: K, make: () => V): V {
  const earlier = known.get(key);
  const value = earlier ?? make();
  if (earlier === undefined) known.set(key, value);
  return value;
}

async function digest(value: unknown): Promise<string> {
  return `sha256:${encodeBase64Url(await digestOf(canonical(value)))}`;
}
