// Runs a call with an idempotency key once, and gives repeated calls the outcome of the first.

import { hasEnded } from '../../async/lifetime.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { McpError } from '../../protocol/errors.js';
import { IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';
import { canonical, digestOf } from '../../state/canonical.js';
import { callerPart } from '../../state/store-shares.js';
import { KeyedCalls } from './keyed-calls.js';
import type { Logger } from './log.js';
import type { Store } from './store.js';
import { isUnknownCaller } from './unknown-callers.js';

/** The settings of calls that are repeated with the same idempotency key. */
export interface IdempotencyOptions {
  /** The time for which an outcome is kept; after that, a call with the same key runs again. Default: 10 minutes. */
  readonly windowMs?: number;
}

const MAX_KEY_LENGTH = 256;
const PREFIX = 'outcome:';
/** The time that a call may take, besides its window, before another process treats its key as free. */
const LONG_CALL_MS = 600_000;

/** The window of a tool: its own setting, or else the server's; undefined if neither enables keys. */
export function windowOf(
  own: boolean | IdempotencyOptions | undefined,
  fallback: boolean | IdempotencyOptions | undefined,
): number | undefined {
  const setting = own ?? fallback ?? false;
  if (setting === false) return undefined;
  const windowMs = (setting === true ? undefined : setting.windowMs) ?? 600_000;
  if (!Number.isSafeInteger(windowMs) || windowMs < 1)
    throw new TypeError('"idempotency.windowMs" must be a whole number, 1 or more');
  return windowMs;
}

/** A call that a client may repeat. */
interface Repeatable {
  readonly call: Call;
  readonly tool: string;
  readonly windowMs: number;
  /** Whether running the call twice has the same effect as once, so that it may run again if its outcome is unknown. */
  readonly isHarmless: boolean;
  /** Runs the call. Runs with the same id give their steps the same keys. */
  readonly run: (call: Call, runId?: string) => Promise<Outcome>;
}

/** The record of a keyed call in the store: the process that started it, and its outcome once there is one. */
interface Entry {
  readonly args: string;
  readonly begun: string;
  readonly outcome?: Outcome;
}

/** The identity of a keyed call: its key in the store, the digest of its arguments, and the id of its run. */
interface KeyScope {
  readonly key: string;
  readonly args: string;
  readonly runId: string;
}

/** The parts of the server that `runOnce` needs. */
export interface RunOnceParts {
  /** The server's name. Its keys do not clash with those of another server. */
  readonly name: string;
  readonly store: Store;
  readonly log: Logger;
  /** Whether the server has the option `user`, which may identify callers by something other than `auth`. */
  readonly hasUser: boolean;
}

/** Runs calls with an idempotency key once. */
export interface RunOnce {
  /** Runs a call, or returns the outcome of an earlier call with the same key. */
  readonly run: (repeatable: Repeatable) => Promise<Outcome>;
  /** Aborts the running keyed calls, and waits briefly for them to end. */
  readonly close: () => Promise<void>;
}

/** Makes the function that runs calls with an idempotency key once. */
export function runOnce({ name, store, log, hasUser }: RunOnceParts): RunOnce {
  const instance = crypto.randomUUID();
  const running = new Map<string, Promise<Entry | undefined>>();
  const calls = new KeyedCalls();

  async function run(repeatable: Repeatable): Promise<Outcome> {
    const { call, tool } = repeatable;
    const key = keyOf(call);
    if (key === undefined) return repeatable.run(call);
    if (isUnknownCaller(call, hasUser)) throw unknownCallerError();
    const leave = calls.enter(call);
    try {
      const scope = await scopeOf(call, tool, key);
      for (;;) {
        const other = running.get(scope.key);
        if (other === undefined) return await begin(scope, repeatable);
        const entry = await other;
        if (entry !== undefined) return sameOutcome(entry, scope);
        // The other call ended without an outcome to share, so this call runs.
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
    // The key contains the owner, for the limits of the store.
    return { key: `${PREFIX}${owner}:${id}`, args, runId };
  }

  // The call is in the map before anything is awaited, so that two simultaneous calls cannot both start.
  async function begin(scope: KeyScope, repeatable: Repeatable): Promise<Outcome> {
    let shareEntry!: (entry: Entry | undefined) => void;
    running.set(
      scope.key,
      new Promise((resolve) => {
        shareEntry = resolve;
      }),
    );
    let entry: Entry | undefined;
    try {
      return await calls.run(repeatable.call, async (call, lifetime) => {
        entry = await claim(scope, repeatable);
        if (entry !== undefined) return sameOutcome(entry, scope);
        const outcome = await repeatable.run(call, scope.runId).catch(async (error: unknown) => {
          // An error means that the call had no effect. After an abort that is unknown, so the key stays taken.
          if (!lifetime.ended) await forget(scope);
          throw error;
        });
        entry = await keep(scope, outcome, repeatable.windowMs);
        return outcome;
      });
    } finally {
      running.delete(scope.key);
      shareEntry(entry);
    }
  }

  /** Records the start of the call before it runs. Returns the entry of an earlier call with the same key. */
  async function claim(
    scope: KeyScope,
    { call, windowMs, isHarmless }: Repeatable,
  ): Promise<Entry | undefined> {
    if (hasEnded(call)) throw new McpError('cancelled', 'The call was cancelled before it started');
    const marker: JsonObject = { args: scope.args, begun: instance };
    const until = Date.now() + windowMs + LONG_CALL_MS;
    try {
      for (;;) {
        if (await store.add(scope.key, marker, until)) return undefined;
        const entry = (await store.get(scope.key)) as unknown as Entry | undefined;
        // The entry expired between the two operations.
        if (entry === undefined) continue;
        if (entry.args !== scope.args || entry.outcome !== undefined) return entry;
        if (!isHarmless) throw unknownOutcomeError(entry.begun === instance);
        await store.set(scope.key, marker, until);
        return undefined;
      }
    } catch (error) {
      if (McpError.is(error)) throw error;
      log('error', 'A call with an idempotency key was rejected: the store could not record the key', error);
      throw new McpError(
        'overloaded',
        'The call did not run: its idempotency key could not be recorded. Retry later.',
        { cause: error },
      );
    }
  }

  // A question does not end the call: the next round has the same key.
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
        'An outcome could not be saved. A repeated call gets the error that the outcome is unknown.',
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
    throw new McpError(
      'invalid_params',
      `params._meta["${IDEMPOTENCY_KEY}"] was already used with other arguments. Use a new key.`,
    );
  if (outcome === undefined) throw unknownOutcomeError(true);
  return outcome;
}

function unknownOutcomeError(isOurs: boolean): McpError {
  return new McpError(
    'internal_error',
    `A call with this idempotency key was started ${isOurs ? 'and interrupted' : 'by another process, and is still running there or was lost'}. Its outcome is unknown. Find out whether it took place before you call again with a new key.`,
    { data: { reason: 'unknown_outcome' } },
  );
}

function unknownCallerError(): McpError {
  return new McpError(
    'invalid_request',
    'This server does not accept idempotency keys from unknown callers, because one caller could get the outcome of another. Identify callers: pass the option "auth" to serve, createHandler or createNodeHandler.',
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
  return encodeBase64Url(await digestOf(canonical(value)));
}
