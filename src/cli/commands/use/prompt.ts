import type { PromptResult } from '../../../client/model/client.js';
import type { ListedPrompt } from '../../../protocol/model/model.js';
import { closestName } from '../../../schema/explain/closest-name.js';
import { cleanLine } from '../../../tooling/clean.js';
import { ALLOW_UNKNOWN, ARGUMENT_OPTIONS, orUnknown } from '../../arguments/check-arguments.js';
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
    'Arguments are checked before anything is sent. If there are several messages, the role stands above each.',
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
        const args = Object.fromEntries(rest.map(split));
        const prompts = await client.prompts().all();
        const found = prompts.find((one) => one.name === name);
        if (found) check(found, args, input.flag('allow-unknown'));
        const words = ['prompt', ...(input.process ? [] : [target.word]), name, ...rest];
        const result = await asker.during({ subject: name, words, process: input.process }, (signal) =>
          client.getPrompt(name, args, { signal }).catch((error: unknown) => {
            throw found ? error : orUnknown(error, 'prompt', () => unknownPrompt(name, prompts));
          }),
        );
        const { description, messages } = result;
        input.out.json({ ok: true, prompt: name, ...(description && { description }), messages });
        print(result, input.out);
      },
      { ...asker.handlers, ...logTo(input) },
    );
  },
};

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
  const hint = close ? ` Close: ${close}.` : prompts.length === 0 ? ' The server has none.' : '';
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
