// Adds the digests of the draft to a server. Everything else is loaded with the first call.

import type { Dispatch } from '../../../protocol/call.js';
import type { DigestParts, Digests } from './digests.js';

/** Wraps the `dispatch` of a server if `drafts` is true: lists get digests, and calls with known digests are checked. */
export function withDigests(dispatch: Dispatch, drafts: boolean | undefined, parts: DigestParts): Dispatch {
  if (drafts !== true) return dispatch;
  let loading: Promise<Digests> | undefined;
  return async function dispatchWithDigests(call) {
    loading ??= import('./digests.js').then((module) => new module.Digests(parts));
    return (await loading).answer(call, dispatch);
  };
}
