// Runs a call with an idempotency key once. The code that does so is loaded with the first such call: most callers send no keys.

import { isObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';
import type { KeyedRuns, KeyedRunsParts, RepeatableCall } from './keyed-runs.js';

const MAX_KEY_LENGTH = 256;

/** Runs calls with an idempotency key once. */
export interface RunOnce {
  /** Runs a call, or returns the outcome of an earlier call with the same key. */
  readonly run: (repeatable: RepeatableCall) => Promise<Outcome>;
  /** Aborts the running keyed calls, and waits briefly for them to end. */
  readonly close: () => Promise<void>;
}

/** Makes the function that runs calls with an idempotency key once. */
export function runOnce(parts: KeyedRunsParts): RunOnce {
  let loading: Promise<KeyedRuns> | undefined;

  function load(): Promise<KeyedRuns> {
    loading ??= import('./keyed-runs.js').then(({ keyedRuns }) => keyedRuns(parts));
    return loading;
  }

  return {
    async run(repeatable) {
      const key = keyOf(repeatable.call);
      return key === undefined ? repeatable.run(repeatable.call) : (await load()).run(key, repeatable);
    },
    close: async () => (await loading)?.close(),
  };
}

/** The idempotency key of a call; undefined if it has none. */
function keyOf({ params }: Call): string | undefined {
  const meta = params['_meta'];
  const key = isObject(meta) ? meta[IDEMPOTENCY_KEY] : undefined;
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key !== '' && key.length <= MAX_KEY_LENGTH) return key;
  throw new McpError(
    'invalid_params',
    `params._meta["${IDEMPOTENCY_KEY}"] must be a string of 1 to ${MAX_KEY_LENGTH} characters`,
  );
}
