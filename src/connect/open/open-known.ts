// Opens a link with the facts that are known about a server, or finds them out.

import type { Link, LinkEvents, OpenLink } from '../../protocol/link.js';
import type { KnownServer, KnownServers } from '../targets/known-servers.js';
import type { ConnectOptions } from '../targets/options.js';
import { type EraOptions, eraOfLink, type OpenAnyEra, showsOtherEra } from './eras.js';

export interface OpenKnownParts {
  /** The key under which the server is remembered. */
  readonly key: string;
  readonly knownServers: KnownServers;
  readonly options: ConnectOptions;
}

/** Makes an `OpenLink` that uses the facts known about the server, or finds them out and remembers them. */
export function openKnown(openAnyEra: OpenAnyEra, { key, knownServers, options }: OpenKnownParts): OpenLink {
  const { revision, connectTimeoutMs: timeoutMs = 30_000 } = options;
  let initial = options.known;

  function recall(): KnownServer | undefined {
    const known = initial ?? knownServers.get(key);
    return revision === undefined || known?.revision === revision ? known : undefined;
  }

  function forget(): void {
    initial = undefined;
    knownServers.delete(key);
  }

  async function discoverEra(events: LinkEvents, open: EraOptions): Promise<Link> {
    const link = await openAnyEra(events, { ...open, revision });
    // A revision that the options chose says nothing about what the server speaks otherwise.
    if (revision === undefined) knownServers.set(key, { era: eraOfLink(link), revision: link.revision });
    return link;
  }

  return async function openByKnownEra(events, open) {
    const known = recall();
    // Knowing that a server is modern saves nothing if its capabilities are unknown.
    if (known === undefined || (known.era === 'modern' && known.discovered === undefined))
      return discoverEra(events, open);
    try {
      if (known.era !== 'modern') return await openAnyEra(events, { ...open, known, revision });
      const lost: typeof events.lost = (reason) => {
        // The server may have closed because it is of another era: find out again the next time.
        forget();
        events.lost(reason);
      };
      const link = await openAnyEra({ ...events, lost }, { ...open, known });
      const { recalledLink } = await import('./recalled-link.js');
      return recalledLink(link, {
        timeoutMs,
        reopen(signal) {
          forget();
          return discoverEra(events, { ...open, signal });
        },
      });
    } catch (error) {
      if (open.signal.aborted || !showsOtherEra(error)) throw error;
      forget();
      return discoverEra(events, open);
    }
  };
}
