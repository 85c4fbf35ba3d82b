import { delay } from '../../../async/delay.js';
import { EventStreamReader } from '../../../jsonrpc/event-stream.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import type { HttpReply } from '../../../transports/http/client/carrier.js';
import {
  answerIn,
  type Expecting,
  isEventStream,
  readAnswer,
  readStream,
  resultOf,
} from '../../../transports/http/client/read-response.js';
import type { Lease } from '../../../transports/http/client/request-scopes.js';
import type { HttpTarget } from '../../../transports/http/client/target.js';
import { incomplete } from '../../../transports/http/client/unreachable.js';
import { Cursor, type HttpSession, isFinal, openStream } from './session.js';

export interface ResumableParts {
  readonly target: HttpTarget;
  readonly session: HttpSession;
  readonly lease: Lease;
  readonly expecting: Expecting;
}

// A server may let its client poll for long, which costs little each time, but it may not fail often.
const PATIENCE = 100;
const COST_OF_FAILURE = 20;

/** Reads the answer to a POST. A stream that ends too early is taken up again where the server has given an event id. */
export async function readResumable(reply: HttpReply, parts: ResumableParts): Promise<JsonObject> {
  const { target, session, lease, expecting } = parts;
  if (!isEventStream(reply)) return readAnswer(reply, parts);
  const cursor = new Cursor();
  let stream: HttpReply | McpError = reply;
  let patience = PATIENCE;
  let failures = 0;
  let cause: unknown;
  for (;;) {
    if (stream instanceof McpError) {
      if (isFinal(stream)) throw isLost(stream) ? stream : incomplete(target.shown, stream);
      patience -= COST_OF_FAILURE;
      failures += 1;
      cause = stream;
    } else {
      const reader = new EventStreamReader({ maxBytes: target.maxBytes });
      const answer = await readStream(stream, { reader, take: answerIn(expecting), lease }).catch((error) => {
        if (McpError.is(error)) throw error;
        cause = error;
        return undefined;
      });
      if (answer !== undefined) return resultOf(answer, 200);
      patience = cursor.moved(reader) ? PATIENCE : patience - 1;
      failures = 0;
    }
    if (cursor.lastEventId === undefined || patience <= 0) throw incomplete(target.shown, cause);
    await delay(cursor.delayMs(failures), { signal: lease.signal }).catch(() => undefined);
    if (lease.ended) throw incomplete(target.shown, lease.signal.reason);
    stream = await openStream(target, { session, cursor, lease });
  }
}

function isLost({ code }: McpError): boolean {
  return code === 'connection_closed';
}
