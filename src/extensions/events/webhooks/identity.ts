// The identity of a subscription: the caller, the address, the type and the arguments, none of which can change.

import type { JsonObject } from '../../../jsonrpc/message.js';
import { canonical, digestOf } from '../../../protocol/canonical.js';

/** Everything that tells a subscription from others. */
export interface SubscriptionKey {
  /** The caller. */
  readonly principal: string;
  /** The address, as it was sent. */
  readonly url: string;
  /** The type of the events. */
  readonly name: string;
  /** The arguments as they were sent, without defaults, so that an unsubscription finds them. */
  readonly args: JsonObject;
}

const ID_BYTES = 16;

/** The id of a subscription: the same after a refresh and after a restart. It is a route for receivers, and not a right. */
export async function subscriptionId({ principal, url, name, args }: SubscriptionKey): Promise<string> {
  const digest = await digestOf(canonical([principal, url, name, args]));
  return `sub_${Array.from(digest.subarray(0, ID_BYTES), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
