// Events on a stream: one request of `events/stream`, from its confirmation to its end.

import { withDeadline } from '../../async/deadline.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { fromWire, McpError } from '../../protocol/errors.js';
import { eventMethods } from '../../protocol/events/offer.js';
import { eventNotifications } from '../../protocol/events/wire.js';
import { SUBSCRIPTION_ID } from '../../protocol/meta.js';
import type { CallSender } from '../calls/call-sender.js';
import type { EventInbox } from './inbox.js';
import { readCursor, readEvent } from './read-events.js';
import { SilenceWatch } from './silence.js';

export interface FollowParts {
  readonly sender: Pick<CallSender, 'sendFresh'>;
  readonly name: string;
  readonly args: JsonObject;
  readonly inbox: EventInbox;
  /** The server has accepted the subscription. */
  readonly onActive: () => void;
  readonly onGap: () => void;
  readonly problem: (message: string, cause?: unknown) => void;
  /** Takes a notification that is not one of this stream. */
  readonly notification: (method: string, params: JsonObject | undefined) => void;
  /** The time in which the server must confirm a stream. */
  readonly timeoutMs: number;
}

/** A reason of our own to end a stream, after which the client opens a new one. */
class StreamOver {
  readonly problem: string;
  constructor(problem: string) {
    this.problem = problem;
  }
}

/**
 * Opens a stream and passes on its events until it ends. Resolves if a new stream should be opened at once, and rejects with the failure of
 * this one.
 */
export async function followStream(parts: FollowParts, signal: AbortSignal): Promise<void> {
  const { sender, name, args, inbox, problem, timeoutMs } = parts;
  const over = new AbortController();
  const stop = (reason: unknown): void => {
    if (!over.signal.aborted) over.abort(reason);
  };
  const silence = new SilenceWatch((ms) =>
    stop(new StreamOver(`The stream of ${name} was silent for ${ms} ms and is being reopened`)),
  );
  const late = (): McpError =>
    new McpError(
      'timeout',
      `The server did not confirm the stream of ${name} within ${timeoutMs} ms (timeoutMs)`,
    );
  try {
    await withDeadline({ ms: timeoutMs, signal, reason: late }, (inTime, met) => {
      const read = streamReader(parts, { silence, stop, met });
      return sender.sendFresh(
        eventMethods.stream,
        { name, arguments: args, cursor: inbox.received },
        {
          noTimeout: true,
          skipMiddleware: true,
          signal: AbortSignal.any([inTime, over.signal]),
          onNotification(method, params) {
            if (!over.signal.aborted && !signal.aborted) read(method, params);
          },
        },
      );
    });
    if (over.signal.aborted) throw over.signal.reason;
  } catch (error) {
    if (signal.aborted || !over.signal.aborted) throw error;
    const { reason } = over.signal;
    if (!(reason instanceof StreamOver)) throw reason;
    problem(reason.problem);
  } finally {
    silence.stop();
    stop(undefined);
  }
}

interface ReaderParts {
  readonly silence: SilenceWatch;
  readonly stop: (reason: unknown) => void;
  readonly met: () => void;
}

/** Makes the function that reads the notifications of a stream. */
function streamReader(
  { name, inbox, onActive, onGap, problem, notification }: FollowParts,
  { silence, stop, met }: ReaderParts,
): FollowParts['notification'] {
  // The id of the request on the wire, as the confirmation names it. A notification that names another request belongs to another stream.
  let own: unknown;
  return function read(method, params = {}) {
    const { _meta } = params;
    const subscription = isObject(_meta) ? _meta[SUBSCRIPTION_ID] : undefined;
    if (method === eventNotifications.active) own ??= subscription;
    if (subscription !== undefined && own !== undefined && subscription !== own) return;
    silence.heard();
    switch (method) {
      case eventNotifications.active:
        met();
        silence.beat();
        inbox.move(readCursor(params) ?? null);
        if (params['truncated'] === true) onGap();
        return onActive();
      case eventNotifications.heartbeat:
        silence.beat();
        return inbox.move(readCursor(params) ?? null);
      case eventNotifications.event: {
        const event = readEvent(params, name);
        if (typeof event === 'string') return problem(`An event of ${name} was skipped: ${event}`);
        inbox.take(event, readCursor(params));
        if (!inbox.isFull) return;
        stop(
          new StreamOver(`The handler of ${name} is slow, so its stream waits until the events are handled`),
        );
        // Without a position, the events of the meantime are lost.
        if (inbox.received === null) onGap();
        return;
      }
      case eventNotifications.error:
        return problem(`The server reports a problem with ${name}`, errorOf(params));
      case eventNotifications.terminated:
        return stop(errorOf(params));
      default:
        return notification(method, params);
    }
  };
}

/** The error in a notification. */
function errorOf({ error }: JsonObject): McpError {
  const { code, message, data } = isObject(error) ? error : {};
  return fromWire({
    code: typeof code === 'number' ? code : 0,
    message: typeof message === 'string' ? shorten(message, 2000) : 'The server ended the subscription',
    ...(data !== undefined && { data }),
  });
}
