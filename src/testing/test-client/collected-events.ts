/// <reference lib="esnext.disposable" preserve="true" />
// The events of a subscription, for a test that waits for one after the other.

import type { Client } from '../../client/model/client.js';
import type {
  EventArguments,
  EventNames,
  EventsOf,
  FollowedEvents,
  FollowOptions,
  TypedEvent,
} from '../../client/model/events.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';

/** A subscription of a test to one type of events. */
export interface CollectedEvents<S = unknown, Name extends string = string> extends FollowedEvents {
  /** All events so far, in order. */
  readonly received: readonly TypedEvent<EventsOf<S>, Name>[];
  /**
   * Resolves with the first event that it has not returned yet. Rejects if none comes within 10 s, or if the subscription ends before. To
   * show that an event does not come, emit another one after it that does: the order is kept.
   */
  readonly next: () => Promise<TypedEvent<EventsOf<S>, Name>>;
}

/** Subscribes to a type of events, as `client.on` does, and keeps what arrives. */
export type CollectEvents<S> = <Name extends EventNames<EventsOf<S>>>(
  name: Name,
  args?: EventArguments<EventsOf<S>, Name>,
  options?: FollowOptions,
) => Promise<CollectedEvents<S, Name>>;

/** A client that polls may do so every five seconds. */
const PATIENCE_MS = 10_000;

// The real ones, even if a test replaces the timers.
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;

/** Makes the function that subscribes with a client. */
export function collecting(client: Pick<Client, 'on'>): CollectEvents<unknown> {
  return async function collect(name, args = {} as never, options = {}) {
    const received: TypedEvent<unknown, typeof name>[] = [];
    const waiting = new Set<() => void>();
    let end: { readonly reason: McpError | undefined } | undefined;
    let returned = 0;
    const wake = (): void => {
      for (const each of waiting) each();
    };
    const keep = (event: TypedEvent<unknown, typeof name>): void => {
      received.push(event);
      wake();
    };
    const followed = await client.on(name, args, keep as never, options);
    void followed.ended.then((reason) => {
      end = { reason };
      wake();
    });
    function next(): Promise<TypedEvent<unknown, typeof name>> {
      const at = returned++;
      return new Promise((resolve, reject) => {
        const fail = (error: McpError): void => {
          settle();
          returned--;
          reject(error);
        };
        const timer = startTimer(() => fail(lateError(name, received.length)), PATIENCE_MS);
        const settle = (): void => {
          stopTimer(timer);
          waiting.delete(look);
        };
        const look = (): void => {
          const event = received[at];
          if (event === undefined) return end && fail(end.reason ?? closedError(name));
          settle();
          resolve(event);
        };
        waiting.add(look);
        look();
      });
    }
    return Object.create(followed, {
      received: { value: received, enumerable: true },
      next: { value: next },
    }) as CollectedEvents<unknown, typeof name>;
  };
}

function lateError(name: string, count: number): McpError {
  return new McpError(
    'timeout',
    `No further event of the type ${quote(name, 128)} came within ${PATIENCE_MS / 1000} s; ${count} came before.`,
  );
}

function closedError(name: string): McpError {
  return new McpError('cancelled', `The subscription to ${quote(name, 128)} was closed.`);
}
