import { isObject, type JsonObject } from '../jsonrpc/message.js';
import { encodeBase64Url } from '../protocol/base64.js';
import type { Call, Outcome } from '../protocol/call.js';
import { McpError } from '../protocol/errors.js';
import { canonical } from './asking/canonical.js';
import type { Log } from './log.js';
import type { Store } from './store.js';

export interface IdempotencyOptions {
  /** How long an outcome is kept. Ten minutes unless given. */
  readonly windowMs?: number;
}

/** Where a client puts the key that makes a call and its repetitions one. */
const IDEMPOTENCY_KEY = 'fullmcp/idempotencyKey';

const MAX_KEY_LENGTH = 256;
const PREFIX = 'outcome:';

/** The window of a tool, if it has one: its own setting, else the server's. */
export function windowOf(
  own: boolean | IdempotencyOptions | undefined,
  servers: boolean | IdempotencyOptions | undefined,
): number | undefined {
  const setting = own ?? servers ?? false;
  if (setting === false) return undefined;
  const windowMs = (setting === true ? undefined : setting.windowMs) ?? 600_000;
  if (!Number.isSafeInteger(windowMs) || windowMs < 1)
    throw new TypeError('"idempotency.windowMs" must be a whole number, 1 or more');
  return windowMs;
}

interface Repeatable {
  readonly call: Call;
  readonly tool: string;
  readonly windowMs: number;
  readonly run: () => Promise<Outcome>;
}

interface Kept {
  readonly args: string;
  readonly outcome: Outcome;
}

/** Runs a call, or gives the outcome that it had already. */
export type RunOnce = (repeatable: Repeatable) => Promise<Outcome>;

export function runOnce({ store, log }: { readonly store: Store; readonly log: Log }): RunOnce {
  const running = new Map<string, Promise<Kept | undefined>>();

  return async function once({ call, tool, windowMs, run }) {
    const key = keyOf(call);
    if (key === undefined) return run();
    const [place, args] = await Promise.all([
      digest([call.auth?.subject ?? '', tool, key]).then((text) => PREFIX + text),
      digest(call.params['arguments'] ?? {}),
    ]);
    for (;;) {
      const other = running.get(place);
      const kept = other === undefined ? await lookUp(place) : await other;
      if (kept !== undefined) return same(kept, args);
      // It may have begun while we looked, or have ended without an outcome to share: then the next in line runs.
      if (running.has(place)) continue;
      return begin(place, { args, windowMs, run });
    }
  };

  async function lookUp(place: string): Promise<Kept | undefined> {
    return (await store.get(place)) as Kept | undefined;
  }

  async function begin(
    place: string,
    { args, windowMs, run }: Pick<Repeatable, 'windowMs' | 'run'> & { readonly args: string },
  ): Promise<Outcome> {
    const outcome = run();
    const ending = outcome.then(
      (ended) => keep(place, { args, outcome: ended }, windowMs),
      () => undefined,
    );
    running.set(place, ending);
    await ending;
    running.delete(place);
    return outcome;
  }

  // A question is not the end of a call, and an error says that it did not take place.
  async function keep(place: string, kept: Kept, windowMs: number): Promise<Kept | undefined> {
    if (kept.outcome.resultType === 'input_required') return undefined;
    try {
      await store.set(place, kept as unknown as JsonObject, Date.now() + windowMs);
    } catch (error) {
      log('error', 'An outcome could not be kept: the call runs again if it is sent again', error);
    }
    return kept;
  }
}

function same({ args, outcome }: Kept, given: string): Outcome {
  if (args === given) return outcome;
  throw new McpError('invalid_params', `params._meta["${IDEMPOTENCY_KEY}"] was used with other arguments`);
}

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

async function digest(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(canonical(value));
  return encodeBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}
