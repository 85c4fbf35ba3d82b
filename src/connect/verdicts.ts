import type { Client } from '../client/model.js';
import { has } from '../protocol/features.js';
import { SERVER_INFO } from '../protocol/meta.js';
import type { Discovered } from '../protocol/model.js';
import type { Revision } from '../protocol/revisions.js';

export type Era = 'modern' | 'session' | 'http+sse';

/** What was found out of a server. Plain JSON, to be kept by whoever wants to connect again without asking. */
export interface Verdict {
  readonly era: Era;
  readonly revision: Revision;
  /** Of a modern server: what it said of itself. */
  readonly discovered?: Discovered;
}

/** Remembers the era of each server, so that only the first connection has to find out. */
export class VerdictCache {
  readonly #verdicts = new Map<string, Verdict>();
  readonly #maxEntries: number;

  constructor({ maxEntries = 500 }: { readonly maxEntries?: number } = {}) {
    this.#maxEntries = maxEntries;
  }

  get(key: string): Verdict | undefined {
    return this.#verdicts.get(key);
  }

  /** The oldest goes where there are too many. */
  set(key: string, { era, revision }: Verdict): void {
    this.#verdicts.delete(key);
    this.#verdicts.set(key, { era, revision });
    if (this.#verdicts.size > this.#maxEntries) {
      for (const oldest of this.#verdicts.keys()) {
        this.#verdicts.delete(oldest);
        break;
      }
    }
  }

  delete(key: string): void {
    this.#verdicts.delete(key);
  }
}

/** What is known of a client's server, for the option `prior` of a later `connect`. */
export function verdictOf(client: Pick<Client, 'server' | 'info'>): Verdict {
  const { revision, info, capabilities, instructions } = client.server;
  if (client.info().transport === 'http+sse') return { era: 'http+sse', revision };
  if (has(revision, 'handshake')) return { era: 'session', revision };
  return {
    era: 'modern',
    revision,
    discovered: {
      supportedVersions: [revision],
      capabilities,
      ...(instructions !== undefined && { instructions }),
      ...(info !== undefined && { _meta: { [SERVER_INFO]: info } }),
    },
  };
}
