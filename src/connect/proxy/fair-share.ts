// The part of something limited that one caller may take, so that nobody takes it all.

import type { Call } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { subscriberNetwork } from '../../protocol/checks/ip-addresses.js';
import { callerTag } from './caller-tags.js';

/** The name that the share of a caller is counted under; undefined for the program itself, which shares with nobody. */
export function shareNameOf(call: Call): string | undefined {
  const { auth, via, isLocal, http } = call;
  if (auth !== undefined) return `caller ${principalOf({ auth })}`;
  // The program may have a proxy in front of this one, and trusts itself to tell its callers apart.
  if (via === undefined || isLocal === true) return callerTag(call) || undefined;
  // A caller without a name can open as many sessions as it likes, and has many addresses of IPv6.
  return `address ${subscriberNetwork(http?.remoteAddress ?? '')}`;
}

/** The number that one caller may have if others have `others` of `max`: half of what they leave, so that something is left. */
export function fairShare(max: number, others: number): number {
  return Math.max(1, Math.ceil((max - others) / 2));
}
