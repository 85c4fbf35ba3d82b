import { isRepeatableCall, wasNotProcessed } from '../../client/calls/retrying.js';
import { KnownTools } from '../../client/checks/known-tools.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';

// Which calls may be made again.

/** Names the tools that have the same effect if they are called twice, besides those whose annotations say so. */
export type RepeatableToolNames = readonly string[] | ((name: string) => boolean);

/** The option of a middleware that takes such names. */
export const repeatableTools = ['strings', 'function'] as const;

/** Decides which calls may be made again. The annotations of tools are those of the lists that have passed. */
export class Repeatable {
  readonly #known = new KnownTools(() => undefined);
  readonly #isNamed: (name: string) => boolean;

  constructor(tools: RepeatableToolNames = []) {
    this.#isNamed = typeof tools === 'function' ? tools : (name) => tools.includes(name);
  }

  /** Remembers the annotations in a list of tools. */
  learn({ method }: Call, outcome: Outcome): Outcome {
    if (method === 'tools/list') this.#known.learn(outcome['tools']);
    return outcome;
  }

  readonly isRepeatable = (tool: unknown): boolean =>
    typeof tool === 'string' && (this.#isNamed(tool) || this.#known.isRepeatable(tool));

  readonly keepsKeys = (tool: unknown): boolean => this.#known.keepsKeys(tool);

  /** Whether a call may be made again after an error. */
  mayRepeat(call: Call, error: unknown): boolean {
    return isRepeatableCall(call, this) || (McpError.is(error) && wasNotProcessed(error));
  }
}
