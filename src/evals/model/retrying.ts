// Asks a model again if it is busy, or if the connection was lost. Nothing has been done with a reply that did not arrive.

import { delay } from '../../async/delay.js';
import { withRetries } from '../../async/with-retries.js';
import { type AskModel, ModelError } from './model.js';

const MAX_ATTEMPTS = 3;
const BASE_MS = 500;
const MAX_MS = 8000;
/** A model that wants to be left alone for longer has failed. */
const MAX_WAIT_MS = 60_000;

/** Wraps a model: three attempts, with pauses that grow and that are as long as the API wants. */
export function retryingModel(
  ask: AskModel,
  { baseMs = BASE_MS }: { readonly baseMs?: number } = {},
): AskModel {
  return async function askAgain(request, { signal }) {
    let waitMs = 0;
    return withRetries(
      async () => {
        if (waitMs > 0) await delay(waitMs, { signal });
        signal.throwIfAborted();
        return ask(request, { signal });
      },
      {
        baseMs,
        maxMs: MAX_MS,
        maxAttempts: MAX_ATTEMPTS,
        until: { signal },
        isFinal(error) {
          if (!(error instanceof ModelError) || error.isFinal) return true;
          waitMs = error.retryAfterMs ?? 0;
          return waitMs > MAX_WAIT_MS;
        },
      },
    );
  };
}
