import type { CallResult } from '../../../client/model/client.js';
import { checkArguments, findTool } from '../../arguments/check-arguments.js';
import { readArguments } from '../../arguments/read-arguments.js';
import type { Command } from '../../command/definition.js';
import { CommandError, usageError } from '../../command/failures.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import type { Output } from '../../terminal/output.js';

/** `fullmcp call`. */
export const call: Command = {
  usage: '<target> <tool> [name=value …]',
  details:
    'Arguments are read by the schema of the tool and checked before anything is sent. a.b=1 and list[0]=x reach into objects and lists,\nname:=json is JSON, name=@file the text of a file, @file.json an object (@- reads it from stdin), and {…} is JSON itself.',
  words: [2, Number.POSITIVE_INFINITY],
  options: TARGET_OPTIONS,
  examples: [
    { line: 'fullmcp call http://localhost:3000/mcp add a=2 b=40', says: 'Prints the value alone: 42.' },
    {
      line: 'fullmcp call ./server.ts place_order @order.json note="ring twice"',
      says: 'A file, and one change.',
    },
  ],
  json: '{ ok: boolean, tool: string, text: string, data?: unknown, content: ContentBlock[] }; ok is false if the tool failed',
  run: (input) =>
    withTarget(input, async ({ client, words }) => {
      const [name, ...rest] = words;
      if (name === undefined) throw usageError('The name of a tool is missing. `fullmcp list` shows them.');
      const tool = await findTool(client, name);
      const args = readArguments(rest, tool.inputSchema);
      await checkArguments(tool, args);
      const result = await client.callTool(name, args, { signal: input.signal });
      print(name, result, input.out);
      if (result.isError && !input.out.isJson)
        throw new CommandError('failed', result.text || `${name} failed.`);
      if (result.isError)
        throw new CommandError('failed', result.text, { tool: name, content: result.content });
    }),
};

function print(tool: string, { text, data, content, isError }: CallResult, out: Output): void {
  if (isError) return;
  out.json({ ok: true, tool, text, ...(data !== undefined && { data }), content });
  out.value(text !== '' || data === undefined ? text : JSON.stringify(data, undefined, 2));
}
