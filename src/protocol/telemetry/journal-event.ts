// Events of a run of a handler: its questions, its steps, and its end. The inspector draws them as a grid.

import { isObject } from '../../jsonrpc/message.js';
import type { Call } from '../call.js';
import { STORY } from '../tables/meta-keys.js';

/** The channel of `node:diagnostics_channel` with the events. */
export const JOURNAL_CHANNEL = 'fullmcp:journal';

/** Something that a run of a handler has met. */
export interface RunEvent {
  /** Identifies the run. Each round of a call is a run of its own. */
  readonly run: string;
  /** The number that the call has in the inspector. */
  readonly story: number;
  readonly kind: 'ask' | 'step' | 'return';
  /** The key of the question or step; `return` for the end of the run. */
  readonly key: string;
  /**
   * `asked`: the question has no answer yet; `known`: an earlier run has it; `ran`: the step ran in this run; `threw`: the step or the
   * run failed; `returned`: the run has a result.
   */
  readonly cell: 'asked' | 'known' | 'ran' | 'threw' | 'returned';
  /** The answer or the result as JSON, or the reason, shortened. */
  readonly value?: string;
  readonly idempotencyKey?: string;
  /** The time that a step took. */
  readonly ms?: number;
  /** A sentence about a mistake of the handler. */
  readonly warning?: string;
}

/** The number that a call has in the inspector; undefined for the calls of all others. */
export function storyOf({ params }: Pick<Call, 'params'>): number | undefined {
  const meta = params['_meta'];
  const story = isObject(meta) ? meta[STORY] : undefined;
  return typeof story === 'number' && Number.isSafeInteger(story) ? story : undefined;
}
