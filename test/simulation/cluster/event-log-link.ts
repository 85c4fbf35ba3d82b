// The connection of a replica to the event log: slow, unreliable, and cut off at times.

import type { EventLog, FollowedStream, LoggedEvent } from 'fullmcp/http';
import type { StoreLinkParts } from './store-link.js';

/** The parts of a connection to the event log. It is kept by the same engine as the store. */
export interface EventLogLinkParts extends Omit<StoreLinkParts, 'store'> {
  readonly log: EventLog;
}

/** Connects a replica to the event log. */
export function eventLogLink(parts: EventLogLinkParts): EventLog {
  const { world, ledger, log, storeActor, replica, condition } = parts;
  const { scheduler, settings } = world;

  function send<T>(text: string, run: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const timer = scheduler.after(
        settings.storeTimeoutMs,
        replica,
        () => {
          isOver = true;
          world.note(() => `event log: no reply to ${text}`);
          ledger.calls.onFailedLog();
          reject(new Error('The event log did not reply in time'));
        },
        true,
      );
      if (condition.isStoreCut || world.fails(settings.losses.storeRequest)) return;
      scheduler.after(condition.storeDelay(), storeActor, () => {
        if (condition.isStoreCut || isOver) return;
        void run().then((result) => {
          world.note(() => `${replica.name}: ${text} → ${JSON.stringify(result)}`);
          if (condition.isStoreCut || world.fails(settings.losses.storeReply)) return;
          scheduler.after(condition.storeDelay(), replica, () => {
            if (isOver) return;
            timer.cancel();
            resolve(result);
          });
        });
      });
    });
  }

  /** Carries the events of a stream to the replica, until the connection breaks. */
  function carry({ stream, gap, events }: FollowedStream): FollowedStream {
    const arrived: (LoggedEvent | 'end' | Error)[] = [];
    let wake: (() => void) | undefined;
    let lastAt = 0;
    const deliver = (item: LoggedEvent | 'end' | Error, delayMs = condition.storeDelay()): void => {
      lastAt = Math.max(lastAt, scheduler.now + delayMs);
      scheduler.after(lastAt - scheduler.now, replica, () => {
        arrived.push(item);
        wake?.();
      });
    };
    const fail = (): void => {
      deliver(new Error('The connection to the event log broke'), settings.storeTimeoutMs);
      scheduler.after(lastAt - scheduler.now, replica, () => ledger.calls.onFailedLog());
    };
    const pump = async (): Promise<void> => {
      for await (const event of events) {
        if (replica.state === 'dead') return;
        if (condition.isStoreCut || world.fails(settings.losses.storeReply)) return fail();
        deliver(event);
      }
      deliver('end');
    };
    async function* read(): AsyncGenerator<LoggedEvent> {
      for (;;) {
        const item = arrived.shift();
        if (item === 'end') return;
        if (item instanceof Error) throw item;
        if (item !== undefined) yield item;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    }
    void pump();
    return { stream, gap, events: read() };
  }

  return {
    append: (stream, data, options) =>
      send(`append to ${stream}${options?.last ? ' at last' : ''}: ${data}`, () =>
        log.append(stream, data, options),
      ),
    async follow(after, signal) {
      const followed = await send(`follow ${after}`, () => log.follow(after, signal));
      return followed && carry(followed);
    },
    drop: (stream) => send(`drop ${stream}`, () => log.drop(stream)),
    async close() {
      // The log is not this replica's own.
    },
  };
}
