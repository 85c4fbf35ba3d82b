import { withDeadline } from '../../async/deadline.js';
import { isObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { Link } from '../../protocol/link.js';
import type { ServerCapabilities, SubscriptionFilter } from '../../protocol/model/model.js';
import { ACKNOWLEDGED, grant, isEmpty, offersOf } from '../../protocol/model/subscriptions.js';
import type { CallSender } from '../calls/call-sender.js';
import type { EventHub } from '../connection/event-hub.js';
import type { ClientOptions } from '../model/options.js';
import { Listening, type ListeningParts } from './listening.js';

// The request that opens a stream of changes.

export interface ListeningOfParts extends Pick<ListeningParts, 'notification'> {
  readonly sender: Pick<CallSender, 'sendFresh'>;
  readonly connection: { readonly link: Link };
  readonly hub: Pick<EventHub, 'problem'>;
  readonly options: Pick<ClientOptions, 'timeoutMs'>;
}

/** The stream of changes of a client. Loaded with the first subscription. */
export function listeningOf({ sender, connection, hub, notification, options }: ListeningOfParts): Listening {
  const { timeoutMs = 60_000 } = options;
  return new Listening({
    listen: listenRequest({ sender, link: () => connection.link, timeoutMs }),
    notification(method, params) {
      if (!connection.link.reportsChanges) notification(method, params);
    },
    problem: hub.problem,
  });
}

interface ListenRequestParts {
  readonly sender: Pick<CallSender, 'sendFresh'>;
  readonly link: () => Link;
  readonly timeoutMs: number;
}

/** Sends `subscriptions/listen`. The call has no timeout, but the server must acknowledge it in time. */
function listenRequest({ sender, link, timeoutMs }: ListenRequestParts): ListeningParts['listen'] {
  return async function listen(wanted, onNotification, stop) {
    const filter = await availablePart(wanted, stop);
    if (isEmpty(filter)) return onNotification(ACKNOWLEDGED, { notifications: {} });
    const reason = (): McpError =>
      new McpError(
        'timeout',
        `The server did not acknowledge the subscription within ${timeoutMs} ms (timeoutMs)`,
      );
    await withDeadline({ ms: timeoutMs, signal: stop, reason }, (signal, met) =>
      sender.sendFresh(
        'subscriptions/listen',
        { notifications: { ...filter } },
        {
          noTimeout: true,
          skipMiddleware: true,
          onNotification(method, params) {
            if (method === ACKNOWLEDGED) met();
            onNotification(method, params);
          },
          signal,
        },
      ),
    );
  };

  /** Drops the parts of a subscription that the server does not offer, unless the link does so. */
  async function availablePart(wanted: SubscriptionFilter, signal: AbortSignal): Promise<SubscriptionFilter> {
    const { filtersSubscriptions, discovered } = link();
    if (filtersSubscriptions) return wanted;
    const filter = declaredPart(wanted, discovered.capabilities);
    if (Object.keys(filter).length === Object.keys(wanted).length) return wanted;
    // The server may declare more by now: ask again before a part is dropped.
    const latest = await sender
      .sendFresh('server/discover', {}, { skipMiddleware: true, signal })
      .catch(() => undefined);
    return isObject(latest?.['capabilities']) ? declaredPart(wanted, latest['capabilities']) : filter;
  }
}

/** The part of a subscription that a server declares. Some servers reject the whole subscription if they are asked for more. */
function declaredPart(wanted: SubscriptionFilter, capabilities: ServerCapabilities): SubscriptionFilter {
  const { taskIds } = wanted;
  return { ...grant(wanted, offersOf(capabilities)), ...(taskIds && { taskIds }) };
}
