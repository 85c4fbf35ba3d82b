import { hasEnded } from '../../async/lifetime.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { McpError } from '../../protocol/errors.js';
import { IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';
import { canonical } from './canonical.js';
import { KeyedCalls } from './keyed-calls.js';
import type { Log } from './log.js';
import type { Store } from './store.js';
import { callerPart } from './store-shares.js';
import { isUnknownCaller } from './unknown-callers.js';

/** The settings of calls that are repeated with the same idempotency key. */
export interface IdempotencyOptions {
  /** The time for which an outcome is kept; a later repetition runs again. Default: 10 minutes. */
  readonly windowMs?: number;
}

const MAX_KEY_LENGTH = 256;
const PREFIX = 'outcome:';
/** A call may take this long beyond its window before another process takes its key for a free one. */
const LONG_CALL_MS = 600_000;

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
  /** Whether running twice is like running once, so that a call whose outcome is not known may run again. */
  readonly harmless: boolean;
  /** Runs the call. A run that has a name gives its steps the same keys whenever it runs. */
  readonly run: (call: Call, runId?: string) => Promise<Outcome>;
}

/** What the store has of a keyed call: that it has begun, and its outcome once there is one. */
interface Entry {
  readonly args: string;
  readonly begun: string;
  readonly outcome?: Outcome;
}

/** Where a keyed call is kept, and what names it. */
interface KeyScope {
  readonly key: string;
  readonly args: string;
  readonly runId: string;
}

export interface RunOnceParts {
  /** The server's name: its keys are not another server's. */
  readonly name: string;
  readonly store: Store;
  readonly log: Log;
  /** Whether the server tells callers apart by something else than `auth`. */
  readonly hasUser: boolean;
}

/** Runs a call, or gives the outcome that it had already. */
export interface RunOnce {
  readonly run: (repeatable: Repeatable) => Promise<Outcome>;
  /** Aborts the keyed calls that run, and waits a moment for them. */
  readonly close: () => Promise<void>;
}

export function runOnce({ name, store, log, hasUser }: RunOnceParts): RunOnce {
  const instance = crypto.randomUUID();
  const running = new Map<string, Promise<Entry | undefined>>();
  const calls = new KeyedCalls();

  async function run(repeatable: Repeatable): Promise<Outcome> {
    const { call, tool } = repeatable;
    const key = keyOf(call);
    if (key === undefined) return repeatable.run(call);
    if (isUnknownCaller(call, hasUser)) throw callersUnknown();
    const leave = calls.enter(call);
    try {
      const scope = await scopeOf(call, tool, key);
      for (;;) {
        const other = running.get(scope.key);
        if (other === undefined) return await begin(scope, repeatable);
        const entry = await other;
        if (entry !== undefined) return sameOutcome(entry, scope);
        // It ended without an outcome to share: then the next in line runs.
      }
    } finally {
      leave();
    }
  }

  async function scopeOf(call: Call, tool: string, key: string): Promise<KeyScope> {
    const principal = principalOf(call);
    const args = await digest(call.params['arguments'] ?? {});
    const [owner, id, runId] = await Promise.all([
      callerPart(principal),
      digest([principal, tool, key]),
      digest([name, principal, tool, key, args]),
    ]);
    // The owner is in the key, for the store's shares.
    return { key: `${PREFIX}${owner}:${id}`, args, runId };
  }

  // The map has the call before anything is awaited, so that two of the same moment cannot both begin.
  async function begin(scope: KeyScope, repeatable: Repeatable): Promise<Outcome> {
    let share!: (entry: Entry | undefined) => void;
    running.set(
      scope.key,
      new Promise((resolve) => {
        share = resolve;
      }),
    );
    let entry: Entry | undefined;
    try {
      return await calls.run(repeatable.call, async (call, lifetime) => {
        entry = await claim(scope, repeatable);
        if (entry !== undefined) return sameOutcome(entry, scope);
        const outcome = await repeatable.run(call, scope.runId).catch(async (error: unknown) => {
          // An error says that the call did not take place. Of one that was aborted nobody knows how far it came.
          if (!lifetime.ended) await forget(scope);
          throw error;
        });
        entry = await keep(scope, outcome, repeatable.windowMs);
        return outcome;
      });
    } finally {
      running.delete(scope.key);
      share(entry);
    }
  }

  /** Writes down that the call begins, before it does. Gives the outcome that is there already. */
  async function claim(
    scope: KeyScope,
    { call, windowMs, harmless }: Repeatable,
  ): Promise<Entry | undefined> {
    if (hasEnded(call)) throw new McpError('cancelled', 'The call was cancelled before it began');
    const marker: JsonObject = { args: scope.args, begun: instance };
    const until = Date.now() + windowMs + LONG_CALL_MS;
    try {
      for (;;) {
        if (await store.add(scope.key, marker, until)) return undefined;
        const entry = (await store.get(scope.key)) as unknown as Entry | undefined;
        // It has expired between the two.
        if (entry === undefined) continue;
        if (entry.args !== scope.args || entry.outcome !== undefined) return entry;
        if (!harmless) throw unknownOutcome(entry.begun === instance);
        await store.set(scope.key, marker, until);
        return undefined;
      }
    } catch (error) {
      if (McpError.is(error)) throw error;
      log('error', 'A call with an idempotency key was refused: the store could not take the key', error);
      throw new McpError(
        'overloaded',
        'The call did not run: its idempotency key could not be recorded. Try again later',
        { cause: error },
      );
    }
  }

  // A question is not the end of a call: the next round has the same key.
  async function keep(scope: KeyScope, outcome: Outcome, windowMs: number): Promise<Entry | undefined> {
    if (outcome.resultType === 'input_required') {
      await forget(scope);
      return undefined;
    }
    const entry: Entry = { args: scope.args, begun: instance, outcome };
    try {
      await store.set(scope.key, entry as unknown as JsonObject, Date.now() + windowMs);
    } catch (error) {
      log(
        'error',
        'An outcome could not be kept: if the call is sent again, the answer is that its outcome is not known',
        error,
      );
    }
    return entry;
  }

  async function forget({ key }: KeyScope): Promise<void> {
    try {
      await store.delete(key);
    } catch (error) {
      log('error', 'The idempotency key of a call that did not take place could not be freed', error);
    }
  }

  return { run, close: calls.close };
}

function sameOutcome({ args, outcome }: Entry, scope: KeyScope): Outcome {
  if (args !== scope.args)
    throw new McpError('invalid_params', `params._meta["${IDEMPOTENCY_KEY}"] was used with other arguments`);
  if (outcome === undefined) throw unknownOutcome(true);
  return outcome;
}

function unknownOutcome(here: boolean): McpError {
  return new McpError(
    'internal_error',
    `A call with this idempotency key was begun ${here ? 'and broke off' : 'by another process, and is still running there or was lost'}. Its outcome is not known. Find out whether it took place before you call again with a new key.`,
    { data: { reason: 'unknown_outcome' } },
  );
}

function callersUnknown(): McpError {
  return new McpError(
    'invalid_request',
    'This server does not accept idempotency keys from unknown callers, because one caller could get the outcome of another. The server has to be told who is calling: give the option "auth" to serve, createHandler or createNodeHandler.',
  );
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
