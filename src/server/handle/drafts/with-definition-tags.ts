// Adds the tags of the draft to a server. Everything else is loaded with the first call.

import type { Dispatch } from '../../../protocol/call.js';
import type { DefinitionTags, DefinitionTagsParts } from './definition-tags.js';

/** Wraps the `dispatch` of a server if `drafts` is true: definitions get tags, and calls with known tags are checked. */
export function withDefinitionTags(
  dispatch: Dispatch,
  drafts: boolean | undefined,
  parts: DefinitionTagsParts,
): Dispatch {
  if (drafts !== true) return dispatch;
  let loading: Promise<DefinitionTags> | undefined;
  return async function dispatchWithDefinitionTags(call) {
    loading ??= import('./definition-tags.js').then((module) => new module.DefinitionTags(parts));
    return (await loading).answer(call, dispatch);
  };
}
