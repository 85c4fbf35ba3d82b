// The tools of a server in the shape of an API, and the calls of a model in the same shape, whatever the API is.

import type { ToolAnswer } from '../../client/model/results.js';
import { type ToolCaller, type VendorTools, vendorTools } from '../../client/tools/to-tools.js';
import { vendorNames } from '../../client/tools/vendor-names.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import type { ModelApi } from '../../testing/mock-model/api.js';
import type { RequestedCall } from './model.js';

/** A result is cut for the model behind this many characters, as hosts do. */
const MAX_RESULT = 100_000;

/** Tools as they are offered to a model. */
export interface OfferedTools {
  /** The definitions in the shape of the API. */
  readonly tools: readonly object[];
  /** The names that the model sees, each with that of the tool at the server. */
  readonly names: ReadonlyMap<string, string>;
  /** Makes a call of the model. The result has the shape of the API. */
  readonly run: (call: RequestedCall) => Promise<object>;
}

/** Offers tools to a model. */
export function offerTools(source: ToolCaller, api: ModelApi): OfferedTools {
  const vendor = vendorTools(source, api);
  return {
    tools: (vendor as { tools: readonly object[] }).tools,
    names: vendorNames(source.tools.map(({ name }) => name)),
    run: runOf(vendor, api),
  };
}

/** Makes a call in the shape of the API, which each has its own of. */
function runOf(
  vendor: VendorTools[keyof VendorTools],
  api: ModelApi,
): (call: RequestedCall) => Promise<object> {
  const run = (vendor as { run: (call: object) => Promise<object> }).run;
  return ({ id, name, args, written }) => {
    switch (api) {
      case 'anthropic':
        return run({ id, name, input: args ?? written });
      case 'openai':
        return run({ call_id: id, name, arguments: written });
      case 'openai-chat':
        return run({ id, function: { name, arguments: written } });
    }
  };
}

/** The answer of a tool as a model gets it: cut if it is long. */
export function answerForModel({ content, text, data, isError }: ToolAnswer): ToolAnswer {
  return text.length <= MAX_RESULT
    ? { content, text, data, isError }
    : answerOfText(shorten(text, MAX_RESULT), isError);
}

/** An answer that is one text. */
export function answerOfText(text: string, isError: boolean): ToolAnswer {
  return { content: [{ type: 'text', text }], text, data: undefined, isError };
}
