import { hasEnded, withSignalOf } from '../../async/lifetime.js';
import { Retries } from '../../async/retries.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { SUBSCRIPTION_ID } from '../../protocol/meta.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import { ACKNOWLEDGED, isEmpty, reportAllChanged } from '../../protocol/model/subscriptions.js';

// Subscriptions through a proxy. They outlive the connection to the server, because callers may not open them again.

const RETRY = { baseMs: 250, maxMs: 15_000 };

/** Serves `subscriptions/listen` with `dispatch`, and begins anew when the connection to the server is lost. */
export async function listen(call: Call, dispatch: (call: Call) => Promise<Outcome>): Promise<Outcome> {
  let granted: SubscriptionFilter | undefined;
  const retries = new Retries({ ...RETRY, until: call });
  const tag = { [SUBSCRIPTION_ID]: call.id };
  function notify(method: string, params: JsonObject | undefined): void {
    if (hasEnded(call)) return;
    if (method !== ACKNOWLEDGED) return call.notify(method, withOwnId(call, params));
    retries.failures = 0;
    const isFirst = granted === undefined;
    granted = (params?.['notifications'] ?? {}) as SubscriptionFilter;
    if (isFirst) call.notify(method, withOwnId(call, params));
    // Changes may have been missed, so everything that the caller asked for counts as changed.
    else reportAllChanged(granted, (name, values) => call.notify(name, { ...values, _meta: tag }));
  }
  while (await retries.next()) {
    let reason: unknown;
    try {
      const outcome = await dispatch(withSignalOf(call, { ...call, notify }));
      if (hasEnded(call) || granted === undefined || isEmpty(granted))
        return withOwnId(call, outcome) as Outcome;
    } catch (error) {
      reason = error;
    }
    if (hasEnded(call)) break;
    // The first attempt fails if the server cannot be reached. Later it may be away for a while.
    const isFinal =
      McpError.is(reason) && ['unauthorized', 'forbidden', 'invalid_params'].includes(reason.code);
    if (reason !== undefined && (granted === undefined || isFinal)) throw reason;
  }
  return { resultType: 'complete', _meta: tag };
}

/** The subscription has the id of the caller's request. Over HTTP, the server knows it by another one. */
function withOwnId<T extends JsonObject | undefined>(call: Call, message: T): T {
  const meta = message?.['_meta'];
  if (!isObject(meta) || !(SUBSCRIPTION_ID in meta)) return message;
  return { ...message, _meta: { ...meta, [SUBSCRIPTION_ID]: call.id } };
}
