import { printError, printResult, type RequestId, type RequestMessage } from '../../jsonrpc/message.js';
import { McpError, toMcpError } from '../../protocol/errors.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import type { ExchangeEvents } from './exchange.js';

const MAX_OPEN = 100;

/** The open requests of the other peer, by the peer's ids. */
export interface PeerRequests {
  readonly respond: (message: RequestMessage, ask: ExchangeEvents['request']) => void;
  /** Cancels a request, which gets no response. Returns whether a request with this id was open. */
  readonly cancel: (id: RequestId) => boolean;
  /** Ends all requests, without a response. */
  readonly end: (reason: McpError) => void;
}

export function peerRequests(send: (text: string) => void): PeerRequests {
  const open = new Map<RequestId, AbortController>();

  return {
    respond({ id, method, params }, ask) {
      // A request that arrives twice gets one response: the peer would take an error with its id for the response.
      if (open.has(id)) return;
      if (open.size >= MAX_OPEN) {
        const full = new McpError('overloaded', `${MAX_OPEN} requests are already open`);
        return send(printError(id, toErrorObject(full)));
      }
      const controller = new AbortController();
      open.set(id, controller);
      const sendResponse = (text: string): void => {
        if (open.get(id) !== controller) return;
        open.delete(id);
        send(text);
      };
      (async () => printResult(id, JSON.stringify(await ask(method, params, controller.signal))))().then(
        sendResponse,
        (error: unknown) => sendResponse(printError(id, toErrorObject(error))),
      );
    },
    cancel(id) {
      const controller = open.get(id);
      open.delete(id);
      controller?.abort(new McpError('cancelled', 'The server cancelled the request'));
      return controller !== undefined;
    },
    end(reason) {
      const controllers = [...open.values()];
      open.clear();
      for (const controller of controllers) controller.abort(reason);
    },
  };
}

// The error codes of a client are the same in every revision.
function toErrorObject(error: unknown): ReturnType<McpError['toWire']> {
  return toMcpError(error).toWire(newestRevision);
}
