import { delay } from '../../../async/delay.js';
import { EventStreamReader } from '../../../jsonrpc/event-stream.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import type { HttpReply } from '../../../transports/http/client/carrier.js';
import { incomplete } from '../../../transports/http/client/failures.js';
import {
  isEventStream,
  type ResponseListener,
  readResponse,
  readStream,
  responseReader,
  resultOf,
} from '../../../transports/http/client/read-response.js';
import type { RequestScope } from '../../../transports/http/client/request-scopes.js';
import type { HttpTarget } from '../../../transports/http/client/target.js';
import { Cursor, type HttpSession, isFinal, openStream } from './session.js';

// Reads the response to a POST of a session, and resumes its stream if the connection is lost.

export interface ResumableParts {
  readonly target: HttpTarget;
  readonly session: HttpSession;
  readonly scope: RequestScope;
  readonly listener: ResponseListener;
  /** Called when the server ends the stream before the response, and says how to resume it. */
  readonly onRelease?: (() => void) | undefined;
}

// A poll costs little patience, so that a server may let its client poll for long. A failure costs much.
const PATIENCE = 100;
const COST_OF_FAILURE = 20;

/** Reads the response to a POST. A stream that ends too early is resumed if the server has sent an event id. */
export async function readResumable(reply: HttpReply, parts: ResumableParts): Promise<JsonObject> {
  const { target, session, scope, listener, onRelease } = parts;
  if (!isEventStream(reply)) return readResponse(reply, parts);
  const cursor = new Cursor();
  let stream: HttpReply | McpError = reply;
  let patience = PATIENCE;
  let failures = 0;
  let cause: unknown;
  for (;;) {
    if (stream instanceof McpError) {
      if (isFinal(stream)) throw isLost(stream) ? stream : incomplete(target.displayUrl, stream);
      patience -= COST_OF_FAILURE;
      failures += 1;
      cause = stream;
    } else {
      const reader = new EventStreamReader({ maxBytes: target.maxBytes });
      cause = undefined;
      const response = await readStream(stream, { reader, take: responseReader(listener), scope }).catch(
        (error) => {
          if (McpError.is(error)) throw error;
          cause = error;
          return undefined;
        },
      );
      if (response !== undefined) return resultOf(response, 200);
      patience = cursor.advance(reader) ? PATIENCE : patience - 1;
      failures = 0;
    }
    if (cursor.lastEventId === undefined || patience <= 0) throw incomplete(target.displayUrl, cause);
    if (cause === undefined) onRelease?.();
    await delay(cursor.delayMs(failures), { signal: scope.signal }).catch(() => undefined);
    if (scope.ended) throw incomplete(target.displayUrl, scope.signal.reason);
    stream = await openStream(target, { session, cursor, scope });
  }
}

function isLost({ code }: McpError): boolean {
  return code === 'connection_closed';
}
