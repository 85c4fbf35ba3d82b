// A stream of events whose caller is checked again before events are passed on.

import { hasEnded, Lifetime, onEnd, withSignal } from '../../async/lifetime.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { dialectOfCall, eventFailure } from '../../protocol/event-failures.js';
import { failureOf } from '../../protocol/events/dialects.js';
import { eventNotifications } from '../../protocol/events/wire.js';

/** The notifications that wait while the caller is checked. A server that sends more is too fast for the check. */
const MAX_WAITING = 1000;

/** Opens a stream. Before its events are passed on, `recheck` decides whether the caller may still have them; it throws if not. */
export async function watchedStream(
  call: Call,
  open: Dispatch,
  { recheck }: { readonly recheck: () => Promise<void> },
): Promise<Outcome> {
  const watch = new StreamWatch(call, recheck);
  const leave = (): void => watch.lifetime.end(new McpError('cancelled', 'The caller has ended the stream.'));
  const forget = onEnd(call, leave);
  // An end that came before is not told.
  if (hasEnded(call)) leave();
  const notify: Call['notify'] = (method, params) => watch.take(method, params);
  const outcome = await open(withSignal({ ...call, notify }, watch.lifetime))
    .catch(async (error: unknown): Promise<Outcome> => {
      await watch.idle();
      if (watch.end === undefined) throw error;
      return { resultType: 'complete' };
    })
    .finally(forget);
  await watch.idle();
  if (watch.end instanceof McpError) throw watch.end;
  return outcome;
}

/** The end of a stream whose caller was told the reason. */
const TOLD = 'told';

class StreamWatch {
  readonly lifetime: Lifetime = new Lifetime();
  readonly #call: Call;
  readonly #recheck: () => Promise<void>;
  #waiting: (readonly [method: string, params: JsonObject | undefined])[] = [];
  #working: Promise<void> | undefined;
  /** Why the stream was ended here: an error for its caller, who may have been told already. */
  end: McpError | typeof TOLD | undefined;

  constructor(call: Call, recheck: () => Promise<void>) {
    this.#call = call;
    this.#recheck = recheck;
  }

  take(method: string, params: JsonObject | undefined): void {
    if (this.end !== undefined) return;
    if (this.#waiting.length >= MAX_WAITING)
      return this.#finish(
        new McpError(
          'overloaded',
          'Events come faster than they can be checked. Continue after your cursor.',
        ),
      );
    this.#waiting.push([method, params]);
    this.#working ??= this.#work();
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    await this.#working;
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0 && this.end === undefined) {
      const told = this.#waiting;
      this.#waiting = [];
      try {
        await this.#recheck();
      } catch (error) {
        this.#refuse(error);
      }
      for (const each of told) if (this.end === undefined) this.#call.notify(...each);
    }
    this.#working = undefined;
  }

  #refuse(error: unknown): void {
    if (!McpError.is(error) || failureOf(error.number) === undefined)
      return this.#finish(McpError.is(error) ? error : new McpError('internal_error', 'The check failed.'));
    const lost = eventFailure('forbidden', 'The caller may no longer get these events.', {
      dialect: dialectOfCall(this.#call),
      data: { reason: 'access_lost' },
    });
    this.#call.notify(eventNotifications.terminated, { error: lost.toWire(this.#call.peer.revision) });
    this.#finish(TOLD);
  }

  #finish(end: McpError | typeof TOLD): void {
    this.end = end;
    this.#waiting = [];
    this.lifetime.end(new McpError('cancelled', 'The stream was ended by the gateway.'));
  }
}
