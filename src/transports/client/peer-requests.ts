import { printError, printResult, type RequestId, type RequestMessage } from '../../jsonrpc/message.js';
import { McpError, toMcpError } from '../../protocol/errors.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import type { ExchangeEvents } from './exchange.js';

const MOST_OPEN = 100;

/** The open requests of the other peer, by the ids that it chose. */
export interface PeerRequests {
  readonly respond: (message: RequestMessage, ask: ExchangeEvents['request']) => void;
  /** Whether one with this id was open. It gets no response. */
  readonly cancel: (id: RequestId) => boolean;
  /** Ends all of them, without an answer. */
  readonly end: (reason: McpError) => void;
}

export function peerRequests(send: (text: string) => void): PeerRequests {
  const open = new Map<RequestId, AbortController>();

  return {
    respond({ id, method, params }, ask) {
      // A request that came twice is answered once: an error with its id would be taken for the response.
      if (open.has(id)) return;
      if (open.size >= MOST_OPEN) {
        const full = new McpError('overloaded', `More than ${MOST_OPEN} requests are open`);
        return send(printError(id, fail(full)));
      }
      const controller = new AbortController();
      open.set(id, controller);
      const reply = (text: string): void => {
        if (open.get(id) !== controller) return;
        open.delete(id);
        send(text);
      };
      (async () => printResult(id, JSON.stringify(await ask(method, params, controller.signal))))().then(
        reply,
        (error: unknown) => reply(printError(id, fail(error))),
      );
    },
    cancel(id) {
      const controller = open.get(id);
      open.delete(id);
      controller?.abort(new McpError('cancelled', 'The server does not want the answer any more'));
      return controller !== undefined;
    },
    end(reason) {
      const controllers = [...open.values()];
      open.clear();
      for (const controller of controllers) controller.abort(reason);
    },
  };
}

// The numbers that a client answers with are the same in every revision.
function fail(error: unknown): ReturnType<McpError['toWire']> {
  return toMcpError(error).toWire(newestRevision);
}
