// A call as code: for a program, and for a test.

import type { ConnectionView } from '../../../../src/inspector/contract/connection.js';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';

/** A program with the client of this package. */
export function clientCode(connection: ConnectionView, tool: string, args: JsonObject): string {
  return `import { connect } from 'fullmcp/client';

await using client = await connect(${targetOf(connection)});
const result = await client.callTool(${literal(tool)}, ${object(args, 0)});
console.log(result.data ?? result.text);
`;
}

/** The same for a prompt. */
export function promptCode(connection: ConnectionView, prompt: string, args: JsonObject): string {
  return `import { connect } from 'fullmcp/client';

await using client = await connect(${targetOf(connection)});
const { messages } = await client.getPrompt(${literal(prompt)}, ${object(args, 0)});
console.log(messages);
`;
}

/** A test that expects what came. */
export function testCode(
  connection: ConnectionView,
  tool: string,
  { args, outcome }: { args: JsonObject; outcome?: JsonObject | undefined },
): string {
  const data = outcome?.['structuredContent'];
  const content = outcome?.['content'];
  const [first] = Array.isArray(content) ? (content as readonly JsonObject[]) : [];
  const text = first?.['text'];
  const expectation =
    data !== undefined
      ? `expect(result.data).toEqual(${object(data, 1)});`
      : typeof text === 'string' && text.length < 2000
        ? `expect(result.text).toBe(${literal(text)});`
        : 'expect(result.content.length).toBeGreaterThan(0);';
  const call = `client.callTool(${literal(tool)}, ${object(args, 1)})`;
  const isError = outcome?.['isError'] === true;
  const body =
    isError && typeof text === 'string'
      ? `  await expect(${call}).rejects.toThrow(${literal(text.slice(0, 200))});`
      : `  const result = await ${call};\n  ${expectation}`;
  return `import { connect } from 'fullmcp/client';
import { expect, test } from 'vitest';

test(${literal(`${tool} ${isError ? 'fails' : 'returns'} as recorded`)}, async () => {
  await using client = await connect(${targetOf(connection)});
${body}
});
`;
}

function targetOf({ address, typed }: ConnectionView): string {
  if (/^(https?|wss?):/.test(address)) return literal(address);
  // The options after a file are those of the command.
  if (!typed.startsWith('-- ')) return literal(wordsOf(typed)[0] ?? typed);
  const [command = '', ...args] = wordsOf(typed.slice(3));
  return `{ command: ${literal(command)}, args: [${args.map(literal).join(', ')}] }`;
}

/** The words of a line that was quoted for a shell, with single quotes only. */
function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  let word = '';
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? '';
    if (character === "'") isQuoted = !isQuoted;
    else if (character === ' ' && !isQuoted) {
      words.push(word);
      word = '';
    } else if (character === '\\' && !isQuoted) word += line[++at] ?? '';
    else word += character;
  }
  return [...words, word];
}

/** A string as source. JSON is JavaScript, and has no character that ends it early. */
function literal(text: string): string {
  const json = JSON.stringify(text);
  return text.includes("'") || text.includes('\\') || json.slice(1, -1) !== text ? json : `'${text}'`;
}

function object(value: unknown, depth: number): string {
  const json = JSON.stringify(value, undefined, 2) ?? 'undefined';
  const named = json.replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:');
  return named === '{}' ? '{}' : named.replaceAll('\n', `\n${'  '.repeat(depth)}`);
}
