// Facts about servers that are worth remembering for the next connection.

import type { Client } from '../../client/model/client.js';
import { SERVER_INFO } from '../../protocol/meta.js';
import type { Discovered } from '../../protocol/model/model.js';
import { has } from '../../protocol/tables/features.js';
import type { Revision } from '../../protocol/tables/revisions.js';

/**
 * The way to speak to a server: `modern` for revision 2026-07-28 or later, `session` for an earlier revision, which begins with
 * a handshake, and `http+sse` for a session over the HTTP transport of 2024-11-05.
 */
export type Era = 'modern' | 'session' | 'http+sse';

/** The facts that a client learned about a server. Plain JSON: store it to connect again faster. */
export interface KnownServer {
  /** The way to speak to the server. */
  readonly era: Era;
  /** The revision that was agreed on. */
  readonly revision: Revision;
  /** The description that a modern server gave of itself. */
  readonly discovered?: Discovered;
}

/** Remembers the era of each server, so that only the first connection has to find it out. */
export class KnownServers {
  readonly #servers = new Map<string, KnownServer>();
  readonly #maxEntries: number;

  /** Keeps `maxEntries` servers; beyond them, the oldest is dropped. Default: 500. */
  constructor({
    maxEntries = 500,
  }: {
    /** The number of servers to remember; beyond it, the oldest is dropped. Default: 500. */
    readonly maxEntries?: number;
  } = {}) {
    this.#maxEntries = maxEntries;
  }

  /** The facts about a server; undefined if none are remembered. */
  get(key: string): KnownServer | undefined {
    return this.#servers.get(key);
  }

  /** Remembers a server, and drops the oldest if there are too many. */
  set(key: string, { era, revision }: KnownServer): void {
    this.#servers.delete(key);
    this.#servers.set(key, { era, revision });
    if (this.#servers.size > this.#maxEntries) {
      for (const oldest of this.#servers.keys()) {
        this.#servers.delete(oldest);
        break;
      }
    }
  }

  /** Forgets a server. */
  delete(key: string): void {
    this.#servers.delete(key);
  }
}

/** Returns the facts about a client's server, for the option `known` of a later `connect`. */
export function knownServer(client: Pick<Client, 'server' | 'info'>): KnownServer {
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
