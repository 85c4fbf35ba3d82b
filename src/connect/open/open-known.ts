import type { OpenLink } from '../../protocol/link.js';
import type { KnownServer, KnownServers } from '../targets/known-servers.js';
import type { ConnectOptions } from '../targets/options.js';
import { saysOtherEra, type Way, type WayParts } from './eras.js';

export interface OpenerParts {
  /** Under which the server is remembered. */
  readonly key: string;
  readonly knownServers: KnownServers;
  readonly options: ConnectOptions;
}

/** Opens a way by what is remembered of the server, or by asking it; then that is remembered. */
export function opener(way: Way, { key, knownServers, options }: OpenerParts): OpenLink {
  const { revision, connectTimeoutMs: timeoutMs = 30_000 } = options;
  let saved = options.known;

  function recall(): KnownServer | undefined {
    const known = saved ?? knownServers.get(key);
    return revision === undefined || known?.revision === revision ? known : undefined;
  }

  function forget(): void {
    saved = undefined;
    knownServers.delete(key);
  }

  async function ask({ events, open }: WayParts): ReturnType<OpenLink> {
    const { link, era } = await way({ events, open, revision });
    knownServers.set(key, { era, revision: link.revision });
    return link;
  }

  return async function openByKnownEra(events, open) {
    const known = recall();
    // That a server was modern saves nothing where it has to be asked for the rest of it anyway.
    if (known === undefined || (known.era === 'modern' && known.discovered === undefined))
      return ask({ events, open });
    try {
      if (known.era !== 'modern') return (await way({ events, open, known, revision })).link;
      const lost: typeof events.lost = (reason) => {
        // It may have ended because it did not understand: the next time it is asked.
        forget();
        events.lost(reason);
      };
      const { link } = await way({ events: { ...events, lost }, open, known });
      const { onHearsay } = await import('./recalled-link.js');
      return onHearsay(link, {
        timeoutMs,
        ask(signal) {
          forget();
          return ask({ events, open: { ...open, signal } });
        },
      });
    } catch (error) {
      if (open.signal.aborted || !saysOtherEra(error)) throw error;
      forget();
      return ask({ events, open });
    }
  };
}
