import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Incoming } from '../../../transports/http/server/incoming.js';
import { NodeIncoming } from './incoming.js';

/** A handler of webhooks for `node:http` and frameworks that expose its `req` and `res`. */
export type NodeWebhookHandler = (
  req: IncomingMessage & {
    /** The body, if a framework has read it already. */
    readonly body?: unknown;
  },
  res: ServerResponse,
) => void;

/** A receiver, as a handler sees it. */
interface Answering {
  /** Answers a webhook. */
  readonly answer: (request: Incoming) => Promise<void>;
  /** Reports a problem to the program. */
  readonly problem: (message: string) => void;
}

/** A receiver on Node's own `req` and `res`. */
export function nodeWebhooks(core: Answering): NodeWebhookHandler {
  return function handle(req, res) {
    const { body } = req;
    if (body === undefined || typeof body === 'string' || body instanceof Uint8Array)
      return void core.answer(new NodeIncoming(req, res, body));
    core.problem(
      'The body of a webhook was parsed before the receiver could verify it. Mount the receiver before the body parser.',
    );
    res.writeHead(500).end();
  };
}
