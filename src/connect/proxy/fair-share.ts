// The part of something limited that one caller may take, so that nobody takes it all.

import type { Call } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';

/** The name that the share of a caller is counted under; undefined for the program itself, which shares with nobody. */
export function shareNameOf({ auth, via, isLocal, http }: Call): string | undefined {
  if (auth !== undefined) return `caller ${principalOf({ auth })}`;
  if (via === undefined || isLocal === true) return undefined;
  // A caller without a name can open as many sessions as it likes.
  return `address ${http?.remoteAddress ?? ''}`;
}

/** The number that one caller may have if others have `others` of `max`: half of what they leave, so that something is left. */
export function fairShare(max: number, others: number): number {
  return Math.max(1, Math.ceil((max - others) / 2));
}
