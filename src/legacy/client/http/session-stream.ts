import { delay } from '../../../async/delay.js';
import { EventStreamReader } from '../../../jsonrpc/event-stream.js';
import { McpError } from '../../../protocol/errors.js';
import type { HttpReply } from '../../../transports/http/client/carrier.js';
import {
  type ResponseListener,
  readStream,
  responseIn,
} from '../../../transports/http/client/read-response.js';
import type { RequestScope } from '../../../transports/http/client/request-scopes.js';
import type { HttpTarget } from '../../../transports/http/client/target.js';
import { Cursor, type HttpSession, isFinal, openStream } from './session.js';

export interface SessionStreamParts {
  readonly target: HttpTarget;
  readonly session: HttpSession;
  readonly scope: RequestScope;
  readonly onMessage: ResponseListener['onMessage'];
  readonly problem: ResponseListener['problem'];
  /** The stream is open again, and the server cannot say what came in between. */
  readonly missed: () => void;
}

/** A stream that was open for so long ended for other reasons than that the server does not want it. */
const LONG_MS = 5000;

/**
 * Listens to messages that the server initiates, for as long as the session lasts. Resolves if the server has no such
 * stream; rejects if the server reports that the session is gone.
 */
export async function listenToSession(parts: SessionStreamParts): Promise<void> {
  const { target, session, scope, onMessage, problem, missed } = parts;
  const { signal } = scope;
  const cursor = new Cursor();
  let opened = false;
  let failures = 0;
  while (!signal.aborted) {
    const stream = await openStream(target, { session, cursor, scope });
    if (signal.aborted) return;
    if (stream instanceof McpError) {
      if (isFinal(stream)) {
        if (opened && stream.code === 'connection_closed') throw stream;
        return;
      }
      failures += 1;
      if (failures === 1) problem("The session's stream cannot be opened; it is tried again.", stream);
    } else {
      if (opened && cursor.lastEventId === undefined) missed();
      opened = true;
      // A stream that ends immediately without an event is not reopened immediately.
      failures = (await read(stream)) ? 0 : failures + 1;
    }
    await delay(cursor.delayMs(failures), { signal }).catch(() => undefined);
  }

  /** Whether the stream was of any use. */
  async function read(stream: HttpReply): Promise<boolean> {
    const reader = new EventStreamReader({ maxBytes: target.maxBytes });
    const take = responseIn({ id: undefined, onMessage, problem });
    const since = Date.now();
    let received = false;
    try {
      await readStream(stream, {
        reader,
        scope,
        take(data, event) {
          received = true;
          return take(data, event);
        },
      });
    } catch (error) {
      if (McpError.is(error) && !signal.aborted) problem("The session's stream broke.", error);
    }
    const lasted = Date.now() - since > LONG_MS;
    return cursor.advance(reader) || received || lasted || reader.retryMs !== undefined;
  }
}
