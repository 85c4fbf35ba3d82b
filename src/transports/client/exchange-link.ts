import { withSignalOf } from '../../async/lifetime.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome, TransportName } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { Link } from '../../protocol/link.js';
import { type PrintedPeer, printPeer, SUBSCRIPTION_ID } from '../../protocol/meta.js';
import type { Discovered } from '../../protocol/model/model.js';
import { staysOpen } from '../../protocol/standing-calls.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import type { Exchange } from './exchange.js';

export interface ExchangeLinkParts {
  readonly transport: TransportName;
  readonly revision: Revision;
  readonly discovered: Discovered;
}

/** A link to a modern server on a connection that its calls share. The code that opened the exchange receives its events. */
export function exchangeLink(exchange: Exchange, parts: ExchangeLinkParts): Link {
  const { transport, revision, discovered } = parts;
  let self: PrintedPeer | undefined;

  function dispatch(call: Call): Promise<Outcome> {
    const { method, params } = call;
    self = printPeer(call.peer, revision, self);
    // A subscription has the id of its request, which differs on the wire.
    const isSubscription = staysOpen(method);
    const onNotification: Call['notify'] = isSubscription
      ? (name, values) => call.notify(name, withSubscriptionId(call, values))
      : call.notify;
    const response = exchange.request(withSignalOf(call, { method, params, self, onNotification }));
    return isSubscription
      ? response.then((result) => readOutcome(withSubscriptionId(call, result)))
      : response.then(readOutcome);
  }

  return { transport, revision, discovered, dispatch, close: exchange.close };
}

/** Spec 2026-07-28, Base Protocol, Responses: a result without a type is complete. */
function readOutcome(result: JsonObject): Outcome {
  const { resultType = 'complete' } = result;
  if (typeof resultType !== 'string') {
    throw new McpError('bad_response', 'The result cannot be read: "resultType" must be a string');
  }
  result['resultType'] = resultType;
  return result as Outcome;
}

function withSubscriptionId<T extends JsonObject | undefined>(call: Call, message: T): T {
  const meta = message?.['_meta'];
  if (!isObject(meta) || !(SUBSCRIPTION_ID in meta)) return message;
  return { ...message, _meta: { ...meta, [SUBSCRIPTION_ID]: call.id } };
}
