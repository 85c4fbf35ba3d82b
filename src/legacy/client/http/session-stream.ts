import { delay } from '../../../async/delay.js';
import { EventStreamReader } from '../../../jsonrpc/event-stream.js';
import { McpError } from '../../../protocol/errors.js';
import type { HttpReply } from '../../../transports/http/client/carrier.js';
import {
  type ResponseListener,
  readStream,
  responseReader,
} from '../../../transports/http/client/read-response.js';
import type { RequestScope } from '../../../transports/http/client/request-scopes.js';
import type { HttpTarget } from '../../../transports/http/client/target.js';
import { Cursor, type HttpSession, isFinal, openStream } from './session.js';

// The stream of a session for messages that do not belong to a request.

export interface SessionStreamParts {
  readonly target: HttpTarget;
  readonly session: HttpSession;
  readonly scope: RequestScope;
  readonly onMessage: ResponseListener['onMessage'];
  readonly problem: ResponseListener['problem'];
  /** Called when the stream is open, but without the messages that were sent before. */
  readonly missed: () => void;
}

/** A stream that was open for longer than this is reopened at once: the server does offer the stream. */
const LONG_MS = 5000;

/**
 * Listens to messages that the server initiates, for as long as the session lasts. Resolves if the server has no such
 * stream; rejects if the server reports that the session is gone.
 */
export async function listenToSession(parts: SessionStreamParts): Promise<void> {
  const { target, session, scope, onMessage, problem, missed } = parts;
  const { signal } = scope;
  const cursor = new Cursor();
  let wasOpen = false;
  let failures = 0;
  while (!signal.aborted) {
    const stream = await openStream(target, { session, cursor, scope });
    if (signal.aborted) return;
    if (stream instanceof McpError) {
      if (isFinal(stream)) {
        if (wasOpen && stream.code === 'connection_closed') throw stream;
        return;
      }
      failures += 1;
      if (failures === 1) problem("The session's stream cannot be opened. The client retries.", stream);
    } else {
      if (cursor.lastEventId === undefined) missed();
      wasOpen = true;
      // A stream that ends immediately without an event is not reopened immediately.
      failures = (await read(stream)) ? 0 : failures + 1;
    }
    await delay(cursor.delayMs(failures), { signal }).catch(() => undefined);
  }

  /** Reads a stream to its end. True if it may be reopened at once. */
  async function read(stream: HttpReply): Promise<boolean> {
    const reader = new EventStreamReader({ maxBytes: target.maxBytes });
    const take = responseReader({ id: undefined, onMessage, problem });
    const start = Date.now();
    let hasEvents = false;
    try {
      await readStream(stream, {
        reader,
        scope,
        take(data, event) {
          hasEvents = true;
          return take(data, event);
        },
      });
    } catch (error) {
      if (McpError.is(error) && !signal.aborted) problem("The session's stream was lost.", error);
    }
    const wasLong = Date.now() - start > LONG_MS;
    return cursor.advance(reader) || hasEvents || wasLong || reader.retryMs !== undefined;
  }
}
