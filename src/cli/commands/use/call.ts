import type { CallResult, Client, ToolCallOptions } from '../../../client/model/client.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import {
  ARGUMENT_OPTIONS,
  checkArguments,
  lookForTool,
  orUnknown,
  saysUnknown,
} from '../../arguments/check-arguments.js';
import { readArguments } from '../../arguments/read-arguments.js';
import { askArguments, chooseTool, lineToRepeat } from '../../asking/ask-arguments.js';
import { ANSWER_OPTIONS, Asker } from '../../asking/asker.js';
import type { Command, Typed } from '../../command/definition.js';
import type { CommandError } from '../../command/failures.js';
import { printResult, RESULT_OPTIONS } from '../../results/print-result.js';
import { fileToWrite } from '../../results/save.js';
import { LOG_OPTIONS, logTo } from '../../target/log.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { withOneKeyboard } from '../../terminal/person.js';
import { progressLine } from '../../terminal/progress-line.js';

/** `fullmcp call`. */
export const call: Command = {
  usage: '<target> [tool] [name=value …]',
  details:
    'Arguments are read by the schema of the tool and checked before anything is sent; a name that the schema does not have is refused,\nunless the schema allows others (additionalProperties) or --allow-unknown is given. a.b=1 and list[0]=x reach into objects and lists,\nname:=json is JSON, name=@file the text of a file, @file.json an object (@- reads it from stdin), and {…} is JSON itself.\nOn a terminal, a tool that is not named can be chosen, and required arguments that are missing are asked for. Questions of the tool are\nasked in the terminal, too: Ctrl+D declines. Without a terminal, --answer answers them. Text is printed as it is.\nAn array of flat objects is a table on a terminal if all of it fits between the edges; in a pipe it is JSON, as is all other data.\n--table makes it a table in both cases, whose widest columns are cut if the terminal is too narrow. Images, audio and other bytes are saved with -o, or written to a pipe if they are all that there is.',
  words: [1, Number.POSITIVE_INFINITY],
  options: {
    ...ARGUMENT_OPTIONS,
    ...ANSWER_OPTIONS,
    ...RESULT_OPTIONS,
    ...LOG_OPTIONS,
    detach: { type: 'boolean', help: 'start a task, and print its id instead of waiting' },
    'idempotency-key': {
      type: 'string',
      value: 'key',
      help: 'a key with which the tool runs once, however often the call is sent',
    },
    progress: { type: 'boolean', help: 'print progress as lines if stderr is not a terminal' },
    ...TARGET_OPTIONS,
  },
  examples: [
    { line: 'fullmcp call http://localhost:3000/mcp add a=2 b=40', says: 'Prints the value alone: 42.' },
    {
      line: 'fullmcp call ./server.ts place_order @order.json note="ring twice"',
      says: 'A file, and one change.',
    },
    {
      line: 'fullmcp call ./server.ts order_pizza --answer size=large --answer toppings=ham --answer sure=yes',
      says: 'Answers its questions.',
    },
    { line: 'fullmcp call ./server.ts paint color=#ff8800 -o square.png', says: 'Saves the picture.' },
    { line: 'id=$(fullmcp call https://example.com/mcp bake_bread --detach)', says: 'Starts a task.' },
  ],
  json: '{ ok: true, tool: string, text: string, data?: unknown, content: ContentBlock[], files?: { path: string, mimeType: string, bytes: number }[] }; with --detach { ok: true, tool: string, task: string }. If the tool failed, the error has tool, data and content; if nobody answered, question and try',
  run: async (typedInput) => {
    const input = { ...typedInput, person: withOneKeyboard(typedInput.person) };
    const file = fileToWrite(input);
    const asker = new Asker(input);
    await withTarget(
      input,
      async ({ client, target, words }) => {
        const name = words[0] ?? (await chooseTool(client, input));
        const { tool, unknown } = await lookForTool(client, name);
        const schema = tool?.inputSchema ?? {};
        const typed = words.slice(1);
        const given = readArguments(typed, schema);
        const asked = tool ? await askArguments(tool, given, input) : [];
        const rest = [...typed, ...asked];
        const args = asked.length === 0 ? given : readArguments(rest, schema);
        if (tool) checkArguments(tool, args, input.flag('allow-unknown'));
        input.out.wait(`calling ${name}`);
        const first = input.process ? [] : [target.word];
        const asking = { subject: name, words: ['call', ...first, name, ...rest], process: input.process };
        const sending = (signal: AbortSignal): Promise<CallResult | undefined> =>
          send(client, { name, args, signal, input });
        const result = await asker.during(asking, tool ? sending : unlisted(sending, unknown));
        input.out.redraw('');
        try {
          if (result) printResult(result, input, { tool: name }, file);
        } finally {
          // The person may want the line for a script, whatever the tool has said.
          if (words[0] === undefined || asked.length > 0)
            input.out.noteLine(`Again: ${lineToRepeat(asking.words, call.options, input)}`);
        }
      },
      { ...asker.handlers, ...logTo(input) },
    );
  },
};

interface Sent {
  readonly name: string;
  readonly args: JsonObject;
  readonly signal: AbortSignal;
  readonly input: Typed;
}

/** The call of a tool that is not listed. */
function unlisted(
  sending: (signal: AbortSignal) => Promise<CallResult | undefined>,
  unknown: () => CommandError,
): typeof sending {
  return async (signal) => {
    const result = await sending(signal).catch((error: unknown) => {
      throw orUnknown(error, 'tool', unknown);
    });
    if (result?.isError && saysUnknown(result.text, 'tool')) throw unknown();
    return result;
  };
}

/** Calls the tool. Returns undefined if the call became a task that nobody waits for. */
async function send(client: Client, { name, args, signal, input }: Sent): Promise<CallResult | undefined> {
  const key = input.text('idempotency-key');
  const options: ToolCallOptions = {
    signal,
    onProgress: progressLine(input.out, name, input.flag('progress')),
    ...(key !== undefined && { idempotencyKey: key }),
  };
  if (!input.flag('detach')) return client.callTool(name, args, options);
  const handle = await client.startTool(name, args, options);
  if (handle.id === undefined) {
    input.out.note('The server made no task of the call, and has already answered it.');
    return handle.result({ signal });
  }
  input.kept?.addTask(handle.id);
  input.out.json({ ok: true, tool: name, task: handle.id });
  input.out.value(handle.id);
  if (client.info().transport === 'stdio' && input.kept === undefined)
    input.out.note(
      'The server was started for this command and ends with it. A task may end with its server.',
    );
  return undefined;
}
