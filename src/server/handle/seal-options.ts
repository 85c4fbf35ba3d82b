import { SHARING_ADVICE } from '../../state/cluster.js';
import type { Store } from '../../state/store.js';
import type { SealOptions } from '../asking/sealed-state.js';
import type { AnyServerOptions } from '../define/options.js';
import type { Logger } from '../state/log.js';

/**
 * The options of the seal, with the warnings for the operator: a random secret is lost with its process, and the states that it seals are
 * useless to other processes.
 */
export function sealOptions(
  { name, secret, asking = {} }: Pick<AnyServerOptions, 'name' | 'secret' | 'asking'>,
  { log, store }: { readonly log: Logger; readonly store: Store },
): SealOptions {
  const { maxAgeMs = 3_600_000, maxBytes = 65_536, once = false } = asking;
  let hasSeenForeign = false;
  return {
    server: name,
    secrets: secret,
    maxAgeMs,
    maxBytes,
    once,
    usedStates: store,
    onForeign: () => {
      if (!hasSeenForeign)
        log(
          'warning',
          `A client returned answers with a state that was encrypted with another secret: the secret was changed, this process was restarted without one, or another process has a different one. ${SHARING_ADVICE}`,
        );
      hasSeenForeign = true;
    },
    onUnrecorded: (error) =>
      log('error', 'Answers were rejected: the store could not record their state as used', error),
    onEphemeral: () =>
      log(
        'warning',
        'No secret is set: only this process can use answers to questions, and only until it ends. Set MCP_SECRET or createServer({ secret }).',
      ),
  };
}
