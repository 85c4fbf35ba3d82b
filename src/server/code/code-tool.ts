// The tool `run_code`: runs a program that a model has written. Everything behind it is loaded with the first program.

import type { Call } from '../../protocol/call.js';
import { CODE_TOOL } from '../../protocol/code/code-options.js';
import { CALL_TOOL, SEARCH_TOOL } from '../../protocol/model/search/search-tools.js';
import type { CallContext } from '../context/call-context.js';
import { type Tool, tool } from '../define/tool.js';
import type { CodeHost, CodeSettings } from './code-host.js';

/** The calls that one program may make unless `maxCalls` says more or less. */
export const MAX_CALLS = 200;

/** The longest program, in characters. */
const MAX_SOURCE = 65_536;

/** The facts about the server that the description of the tool tells. */
interface CodeFacts extends Pick<CodeSettings, 'maxCalls'> {
  /** Whether the model finds the tools with `search_tools`, and does not see them in its list. */
  readonly finds: boolean;
  /** Whether a person approves calls. */
  readonly asks: boolean;
  /** Whether clients may start programs as tasks. */
  readonly isTask: boolean;
}

/** Defines the tool. */
export function codeTool(facts: CodeFacts, host: () => CodeHost): Tool {
  return tool({
    title: 'Run a program',
    description: describe(facts),
    annotations: { readOnly: false, destructive: true, openWorld: true },
    ...(facts.isTask && { task: 'optional' }),
    input: {
      type: 'object',
      properties: {
        code: { type: 'string', minLength: 1, maxLength: MAX_SOURCE, description: 'The program' },
      },
      required: ['code'],
      additionalProperties: false,
    },
    async run(input: unknown, ctx) {
      const { runCode } = await import('./run-code.js');
      const context = ctx as unknown as CallContext<never, never>;
      return runCode((input as { readonly code: string }).code, {
        ...host(),
        ctx: context,
        call: context.caller as Call,
      });
    },
  });
}

/** The description of `search_tools` beside the tool. `hasSearch`: `call_tool` is listed, too. */
export function describeSearch(hasSearch: boolean): string {
  const use = hasSearch
    ? `Call them in ${CODE_TOOL}, or one with ${CALL_TOOL}.`
    : `Call them in ${CODE_TOOL}.`;
  return `Finds tools by what they do. Returns a line of TypeScript for each: its arguments, its result and what it does. ${use}`;
}

function describe({ maxCalls, finds, asks }: CodeFacts): string {
  const find = finds
    ? ` Find tools with ${SEARCH_TOOL} first, or inside with tools.${SEARCH_TOOL}({ query }).`
    : '';
  const approval = asks
    ? '\n- The user approves changes before they are made, in one question as long as no change depends on the result of another one.'
    : '';
  return `Runs a short program in JavaScript or TypeScript that calls tools. It is the body of an async function.${find}
- tools.name({ ... }) calls a tool and gives its value, not text. Await every call; use Promise.all for independent ones.
- Filter and count here, and return little: what you return and console.log is all that you see, at most 24,000 characters.
- A call that fails throws a ToolError (message, code). An error names the line, and the calls that were made.
- There is no network, no file, no timer. At most ${maxCalls} calls. Times are UTC.${approval}
Example:
const open = await tools.list_invoices({ status: 'open' });
const late = open.filter((one) => one.days > 30);
await Promise.all(late.map((one) => tools.remind({ id: one.id })));
return { reminded: late.length };`;
}
