// The digest of a list, and of each definition in it.

import { canonical, digestOf } from '../../../protocol/canonical.js';
import { encodeBase64Url } from '../../../protocol/encoding/base64.js';

/** A definition as clients list it. */
export interface Listed {
  readonly listed: { readonly name: string; readonly _meta?: unknown };
}

/** A list that a caller sees. */
export interface Snapshot {
  readonly digest: string;
  /** The digest of each definition, by name. */
  readonly definitions: ReadonlyMap<string, string>;
}

/** Computes snapshots, each of them once. */
export class Snapshots {
  readonly #snapshots = new WeakMap<readonly Listed[], Promise<Snapshot>>();
  readonly #definitions = new WeakMap<Listed['listed'], Promise<string>>();

  /** The snapshot of all entries that a caller sees. Their order does not matter. */
  of(entries: readonly Listed[]): Promise<Snapshot> {
    const known = this.#snapshots.get(entries);
    const snapshot = known ?? this.#compute(entries);
    if (known === undefined) this.#snapshots.set(entries, snapshot);
    return snapshot;
  }

  async #compute(entries: readonly Listed[]): Promise<Snapshot> {
    const sorted = entries.map(({ listed }) => listed).sort((a, b) => (a.name < b.name ? -1 : 1));
    const digests = sorted.map(async (listed) => [listed.name, await this.definition(listed)] as const);
    return { digest: await print(sorted), definitions: new Map(await Promise.all(digests)) };
  }

  /** The digest of a definition without its `_meta`: a tool is the same before and after it is one of several versions. */
  definition(listed: Listed['listed']): Promise<string> {
    const known = this.#definitions.get(listed);
    const { _meta, ...definition } = listed;
    const digest = known ?? print(definition);
    if (known === undefined) this.#definitions.set(listed, digest);
    return digest;
  }
}

async function print(value: unknown): Promise<string> {
  return `sha256:${encodeBase64Url(await digestOf(canonical(value)))}`;
}
