import type { PromptResult } from '../../../client/model/client.js';
import type { ListedPrompt, ListedTool } from '../../../protocol/model/model.js';
import { closestName } from '../../../schema/explain/closest-name.js';
import { cleanLine } from '../../../tooling/clean.js';
import { ALLOW_UNKNOWN, ARGUMENT_OPTIONS, orUnknown } from '../../arguments/check-arguments.js';
import { askMissing, lineToRepeat } from '../../asking/ask-arguments.js';
import { ANSWER_OPTIONS, Asker } from '../../asking/asker.js';
import type { Command } from '../../command/definition.js';
import { type CommandError, usageError } from '../../command/failures.js';
import { LOG_OPTIONS, logTo } from '../../target/log.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import type { Output } from '../../terminal/output.js';

/** `fullmcp prompt`. */
export const prompt: Command = {
  usage: '<target> <name> [name=value …]',
  details:
    'Arguments are checked before anything is sent. On a terminal, required ones that are missing are asked for. If there are several messages,\nthe role stands above each.',
  words: [2, Number.POSITIVE_INFINITY],
  options: { ...ARGUMENT_OPTIONS, ...ANSWER_OPTIONS, ...LOG_OPTIONS, ...TARGET_OPTIONS },
  examples: [
    {
      line: 'fullmcp prompt http://localhost:3000/mcp explain topic=bread audience="a child"',
      says: 'Prints the messages of a prompt.',
    },
  ],
  json: '{ ok: true, prompt: string, description?: string, messages: { role: "user" | "assistant", content: ContentBlock }[] }',
  run: async (input) => {
    const asker = new Asker(input);
    await withTarget(
      input,
      async ({ client, target, words: [name, ...rest] }) => {
        if (name === undefined)
          throw usageError('The name of a prompt is missing. `fullmcp list` shows them.');
        const given = Object.fromEntries(rest.map(split));
        const prompts = await client.prompts().all();
        const found = prompts.find((one) => one.name === name);
        const asked = found ? await askMissing(asTool(found), given, input) : new Map<string, unknown>();
        const args = {
          ...given,
          ...Object.fromEntries([...asked].map(([key, value]) => [key, String(value)])),
        };
        if (found) check(found, args, input.flag('allow-unknown'));
        const added = [...asked].map(([key, value]) => `${key}=${value}`);
        const words = ['prompt', ...(input.process ? [] : [target.word]), name, ...rest, ...added];
        const result = await asker.during({ subject: name, words, process: input.process }, (signal) =>
          client.getPrompt(name, args, { signal }).catch((error: unknown) => {
            throw found ? error : orUnknown(error, 'prompt', () => unknownPrompt(name, prompts));
          }),
        );
        const { description, messages } = result;
        input.out.json({ ok: true, prompt: name, ...(description && { description }), messages });
        print(result, input.out);
        if (asked.size > 0) input.out.noteLine(`Again: ${lineToRepeat(words, prompt.options, input)}`);
      },
      { ...asker.handlers, ...logTo(input) },
    );
  },
};

/** A prompt as a tool: its arguments are strings. */
function asTool({ name, arguments: known = [] }: ListedPrompt): Pick<ListedTool, 'name' | 'inputSchema'> {
  const fields = known.map((one) => [
    one.name,
    { type: 'string', ...(one.description !== undefined && { description: one.description }) },
  ]);
  const required = known.filter((one) => one.required === true).map((one) => one.name);
  return { name, inputSchema: { type: 'object', properties: Object.fromEntries(fields), required } };
}

function split(word: string): readonly [string, string] {
  const at = word.indexOf('=');
  if (at > 0) return [word.slice(0, at), word.slice(at + 1)];
  throw usageError(`${JSON.stringify(word)} is not an argument: write name=value.`);
}

function unknownPrompt(name: string, prompts: readonly ListedPrompt[]): CommandError {
  const close = closestName(
    name,
    prompts.map((one) => one.name),
  );
  const hint = close
    ? ` Did you mean ${JSON.stringify(close)}?`
    : prompts.length === 0
      ? ' The server has none.'
      : '';
  return usageError(`No prompt is called ${JSON.stringify(name)}.${hint}`, close ? { close } : {});
}

function check(
  { name, arguments: known = [] }: ListedPrompt,
  args: Readonly<Record<string, string>>,
  isUnknownAllowed: boolean,
): void {
  const names = known.map((one) => one.name);
  const unknown = isUnknownAllowed ? [] : Object.keys(args).filter((arg) => !names.includes(arg));
  const missing = known.filter((one) => one.required === true && !Object.hasOwn(args, one.name));
  const problems = [
    ...unknown.map((arg) => `  ${cleanLine(arg, 64)}  unknown${suggested(arg, names)}`),
    ...missing.map((one) => `  ${cleanLine(one.name, 64)}  missing`),
  ];
  if (problems.length === 0) return;
  const shown = known.map((one) => `${cleanLine(one.name, 64)}${one.required ? '' : '?'}`).join(', ');
  const lines = [`Wrong arguments for ${name}. Nothing was sent.`, ...problems, `  ${name}(${shown})`];
  if (unknown.length > 0) lines.push(ALLOW_UNKNOWN);
  throw usageError(lines.join('\n'), { sent: false, problem: problems.join('\n') });
}

function suggested(arg: string, names: readonly string[]): string {
  const close = closestName(arg, names);
  return close === undefined ? '' : `, did you mean ${JSON.stringify(cleanLine(close, 64))}?`;
}

function print({ messages }: PromptResult, out: Output): void {
  for (const { role, content } of messages) {
    if (messages.length > 1) out.styled(out.style('dim', `[${role}]`));
    if (content.type === 'text') out.value(content.text);
    else if (content.type === 'resource' && 'text' in content.resource)
      out.value(String(content.resource.text));
    else
      out.value(
        `(${content.type}${'mimeType' in content ? ` ${cleanLine(String(content.mimeType), 80)}` : ''}; --json has it)`,
      );
  }
}
