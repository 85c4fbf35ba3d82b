// A subscription to one type of events: opened, reopened when it breaks, and ended.

import { onAbort, unlessAborted } from '../../async/abort.js';
import { backoff, delay } from '../../async/delay.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { cancelledBy, McpError, toMcpError } from '../../protocol/errors.js';
import type { CallSender } from '../calls/call-sender.js';
import type { FollowedEvents, FollowOptions, ListedEvent, ReceivedEvent } from '../model/events.js';
import type { EventCatalog } from './catalog.js';
import { outlookOf, toEventError } from './failures.js';
import { EventInbox } from './inbox.js';
import { followPolls } from './over-poll.js';
import { type FollowParts, followStream } from './over-stream.js';
import { FollowedPosition } from './position.js';

export interface SubscriptionParts
  extends Pick<FollowParts, 'name' | 'args' | 'problem' | 'notification' | 'timeoutMs'> {
  readonly sender: Pick<CallSender, 'sendFresh' | 'closing'>;
  readonly catalog: EventCatalog;
  /** The address of the server, for the store. */
  readonly server: string;
  readonly handler: (event: ReceivedEvent) => void | Promise<void>;
  readonly options: FollowOptions;
}

/** After a subscription has lived this long, a failure counts as new: the delays start over. */
const STABLE_MS = 5000;

/** Subscribes to a type of events. Resolves when the server has accepted the subscription. */
export async function subscribeToEvents(parts: SubscriptionParts): Promise<FollowedEvents> {
  const { name, args, server, sender, catalog, problem, handler, options } = parts;
  const { store, signal } = options;
  if (signal?.aborted) throw cancelledBy(signal.reason);
  const position = await FollowedPosition.open({ server, name, args }, store, problem);
  const type = await catalog.find(name);
  const mode = modeOf(type, name);
  const inbox = new EventInbox({ position, handler, problem });
  const follower = new Follower(parts, inbox, mode);
  const forgets = [sender.closing, ...(signal === undefined ? [] : [signal])].map((each) => {
    const stop = (): void => follower.stop(each === signal ? undefined : toMcpError(each.reason));
    if (each.aborted) stop();
    return onAbort(each, stop);
  });
  const running = follower.run().finally(() => {
    for (const forget of forgets) forget();
    inbox.close();
  });
  running.catch(() => undefined);
  await Promise.race([follower.active, running.then(throwEnd)]);
  const ended = running.then(async (reason) => {
    await inbox.idle();
    await position.save();
    return reason;
  });
  const close = async (): Promise<void> => {
    follower.stop(undefined);
    await running;
    await position.save();
  };
  return {
    get delivery() {
      return follower.mode;
    },
    ended,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A subscription that ended before the server accepted it has failed. */
function throwEnd(reason: McpError | undefined): never {
  throw reason ?? new McpError('cancelled', 'The subscription was closed');
}

/** The type is not there, or cannot be followed by a client. */
class NotOffered extends McpError {}

/** By stream if the type has streams, otherwise by polling. */
function modeOf(type: ListedEvent | undefined, name: string): FollowedEvents['delivery'] {
  const quoted = quote(name, 200);
  if (type === undefined)
    throw new NotOffered('invalid_params', `The server lists no events with the name ${quoted}`);
  const mode = (['push', 'poll'] as const).find((each) => type.delivery.includes(each));
  if (mode !== undefined) return mode;
  throw new NotOffered(
    'invalid_params',
    `The server delivers ${quoted} only to webhooks. Make a receiver with receiver() of fullmcp/events, and subscribe with it.`,
  );
}

/** Keeps one subscription open until it is stopped or cannot be opened again. */
class Follower {
  readonly #parts: SubscriptionParts;
  readonly #inbox: EventInbox;
  readonly #stop = new AbortController();
  #reason: McpError | undefined;
  #isActive = false;
  #onActive!: () => void;
  mode: FollowedEvents['delivery'];
  /** Resolves when the server has accepted the subscription. */
  readonly active: Promise<void> = new Promise((resolve) => {
    this.#onActive = resolve;
  });

  constructor(parts: SubscriptionParts, inbox: EventInbox, mode: FollowedEvents['delivery']) {
    this.#parts = parts;
    this.#inbox = inbox;
    this.mode = mode;
  }

  stop(reason: McpError | undefined): void {
    if (this.#stop.signal.aborted) return;
    this.#reason = reason;
    this.#stop.abort(reason);
  }

  /** Resolves when the subscription has ended, with the error that ended it. */
  async run(): Promise<McpError | undefined> {
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; ) {
      const startedAt = performance.now();
      try {
        await this.#follow(signal);
      } catch (thrown) {
        if (signal.aborted) break;
        const error = toEventError(thrown);
        if (!this.#isActive || !(await this.#survives(error))) return error;
        this.#parts.problem(
          `The subscription to ${this.#parts.name} was interrupted and is being resumed`,
          error,
        );
      }
      failures = performance.now() - startedAt > STABLE_MS ? 0 : failures + 1;
      // The events that have arrived are handled first: a stream that was ended because the handler is slow waits for it.
      await unlessAborted(this.#inbox.idle(), signal)
        .then(() => delay(backoff(failures, { baseMs: 100, maxMs: 30_000 }), { signal }))
        .catch(() => undefined);
    }
    return this.#reason;
  }

  #follow(signal: AbortSignal): Promise<void> {
    const { sender, name, args, problem, notification, timeoutMs, options } = this.#parts;
    const parts: FollowParts = {
      sender,
      name,
      args,
      inbox: this.#inbox,
      problem,
      notification,
      timeoutMs,
      onActive: () => {
        this.#isActive = true;
        this.#onActive();
      },
      onGap: () => report(options.onGap, problem),
    };
    return this.mode === 'push' ? followStream(parts, signal) : followPolls(parts, signal);
  }

  /** Whether the subscription can be opened again after a failure. The type may be listed with other ways of delivery by now. */
  async #survives(error: McpError): Promise<boolean> {
    const { catalog, name } = this.#parts;
    const outlook = outlookOf(error);
    if (outlook !== 'list') return outlook === 'retry';
    try {
      this.mode = modeOf(await catalog.find(name, { fresh: true }), name);
      return true;
    } catch (failure) {
      return !(failure instanceof NotOffered) && outlookOf(toMcpError(failure)) === 'retry';
    }
  }
}

function report(onGap: (() => void) | undefined, problem: SubscriptionParts['problem']): void {
  try {
    onGap?.();
  } catch (error) {
    problem('The onGap of a subscription threw', error);
  }
}
