// The middleware of single tools.

import { type Call, compose, type Dispatch, type Middleware, type Outcome } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import type { CompiledTool } from '../catalog/tools.js';
import type { ToolResult } from '../results/tool-result.js';

/** Gives the middleware of a tool the parts of the server that some of it needs. */
export type HostUse = (use: readonly Middleware[], place: string) => readonly Middleware[];

/** Wraps the calls of tools in their middleware. */
export class ToolMiddleware {
  readonly #host: HostUse;
  readonly #hosted = new WeakMap<CompiledTool, readonly Middleware[]>();

  /** The tools that the server has when it starts get their middleware at once, so that it starts with the server. */
  constructor(host: HostUse, tools: Iterable<CompiledTool>) {
    this.#host = host;
    for (const tool of tools) if (tool.use !== undefined) this.useOf(tool);
  }

  /** Makes a call through the middleware of its tool. */
  run(tool: CompiledTool, call: Call, dispatch: Dispatch): Promise<Outcome> {
    // Middleware may spread the call, and change the outcome, whose `_meta` belongs to the server.
    const inner: Dispatch = async (next) => {
      const outcome = await dispatch(next);
      return { ...outcome, _meta: { ...(outcome['_meta'] as object | undefined) } };
    };
    return compose(this.useOf(tool), inner)(copyCall(call));
  }

  /** Does the same for a call from another handler, which gets the result itself. */
  async runNested(
    tool: CompiledTool,
    call: Call,
    work: (call: Call) => Promise<ToolResult>,
  ): Promise<ToolResult> {
    let last: { readonly result: ToolResult; readonly outcome: Outcome } | undefined;
    const outcome = await this.run(tool, call, async (next) => {
      const result = await work(next);
      last = { result, outcome: tool.handler.finish(result) };
      return last.outcome;
    });
    if (outcome.resultType !== 'complete')
      throw new TypeError(
        `The middleware of the tool "${tool.name}" returned an outcome of the type "${outcome.resultType}", which ctx.call does not support.`,
      );
    // An outcome has less than the result of a handler in the same process: a value that is not an object is only text in it.
    if (last !== undefined && isUnchanged(outcome, last.outcome)) return last.result;
    const { resultType, ...result } = outcome;
    return result as unknown as ToolResult;
  }

  useOf(tool: CompiledTool): readonly Middleware[] {
    const known = this.#hosted.get(tool);
    if (known !== undefined) return known;
    const hosted = this.#host(tool.use ?? [], `tools.${tool.name}.use`);
    this.#hosted.set(tool, hosted);
    return hosted;
  }
}

/** Whether the middleware has not changed an outcome, except for its `_meta`. */
function isUnchanged(outcome: Outcome, made: Outcome): boolean {
  return (['content', 'structuredContent', 'isError'] as const).every((key) => outcome[key] === made[key]);
}
