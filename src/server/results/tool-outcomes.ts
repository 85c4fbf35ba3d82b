// Makes the outcomes of tool calls.

import type { Outcome } from '../../protocol/call.js';
import { PRINTED } from '../../protocol/encoding/printed-value.js';
import type { InputRequired } from '../asking/input-required.js';
import type { Behaviour } from '../state/behaviours.js';
import { BareValue, type Complete } from './results.js';
import type { ToolResult } from './tool-result.js';

/** Functions that make the outcome from the result of a tool. A tool's function is chosen when the tool is compiled. */
export interface ToolOutcomes {
  /** For tools with an output schema. */
  readonly withSchema: (result: ToolResult | InputRequired) => Outcome;
  /** For tools without one: clients do not expect structured content, and some break on a value that is not an object. */
  readonly withoutSchema: (result: ToolResult | InputRequired) => Outcome;
}

/** Makes the functions that make outcomes. */
export function toolOutcomes(complete: Complete, on: ReadonlySet<Behaviour>): ToolOutcomes {
  const isTextOnly = on.has('plain-values-as-text');
  const { _meta: printedMeta } = complete({}, PRINTED);
  const { _meta } = complete({});

  function withoutSchema(result: ToolResult | InputRequired): Outcome {
    if (isTextOnly && result instanceof BareValue)
      return { resultType: 'complete', content: result.content, _meta: printedMeta };
    return isContentAlone(result)
      ? { resultType: 'complete', content: result.content, _meta }
      : withSchema(result);
  }

  function withSchema(result: ToolResult | InputRequired): Outcome {
    return complete(result, (result as ToolResult)._meta);
  }

  return { withSchema, withoutSchema };
}

// True for most results. A spread would be slow to make and slow to print.
function isContentAlone(result: ToolResult | InputRequired): result is ToolResult {
  for (const key in result) if (key !== 'content') return false;
  return true;
}
