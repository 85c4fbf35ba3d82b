import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createServer, tool } from 'fullmcp';
import { expect, test } from 'vitest';
import { folder, served } from '../check/support.js';
import { fullmcp } from '../support/run-cli.js';

// The lines that a server which the command started wrote to stderr, when a call fails.

const zoo = fileURLToPath(new URL('../../inspector/session/fixtures/zoo.js', import.meta.url));
const files = await folder();

test('a call that fails prints what the server wrote, with the line of the handler before the rest of the stack', async () => {
  const { exit, stdout, stderr } = await fullmcp(['call', zoo, 'crashes']);
  expect([exit, stdout]).toEqual([1, '']);
  const [head, error, top, next] = stderr.split('\n');
  expect(head).toBe(`${zoo} wrote to standard error:`);
  expect(error).toMatch(/^ {2}Tool "crashes" failed \(ref [0-9a-f]{8}\): TypeError: order 7 has no price$/);
  expect(top).toMatch(/^ {6}at pay \(.*zoo\.js:\d+:\d+\)$/);
  expect(next).toMatch(/^ {6}at /);
  expect(stderr).not.toContain('/dist/');
  expect(stderr.trimEnd().split('\n').at(-1)).toMatch(
    /^Internal error \(ref [0-9a-f]{8}\)\. The server's own words are above\.$/,
  );
});

test('the lines of a server are broken between words at the width of the terminal', async () => {
  const { stderr } = await fullmcp(['call', zoo, 'crashes'], { terminal: true, columns: 60 });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of colours and of the line that is drawn over
  const lines = stderr.replaceAll(/\u001b\[\d+m|[^\n]*\r\u001b\[2K/g, '').split('\n');
  const isOneWord = (line: string): boolean => !/^ *(?:at )?\S.* /.test(line);
  expect(lines.filter((line) => line.length > 60 && !isOneWord(line))).toEqual([]);
  expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toContain('TypeError: order 7 has no price');
});

test('a failure of a server elsewhere names the reference to look for in its log', async () => {
  const url = await served(
    createServer({
      name: 'far',
      version: '1.0.0',
      logger: () => undefined,
      tools: {
        crash: tool({
          run: () => {
            throw new TypeError('the oven is cold');
          },
        }),
      },
    }),
  );
  const { exit, stderr } = await fullmcp(['call', url, 'crash']);
  expect(exit).toBe(1);
  expect(stderr).toMatch(/^Internal error \(ref ([0-9a-f]{8})\)\. Look for \1 in the server's log\.\n$/);
});

test('a program that does not speak MCP is doubted after what it wrote', async () => {
  const { exit, stderr } = await fullmcp(['list', '--', process.execPath, '-e', 'console.log(1)']);
  expect(exit).toBe(3);
  expect(stderr).toContain(
    'has ended with exit code 0. It wrote to standard output:\n1\nIs it an MCP server? ',
  );
});

test('a call that succeeds, or that was typed wrongly, does not print what the server wrote', async () => {
  expect(await fullmcp(['call', zoo, 'mutters'])).toMatchObject({ exit: 0, stderr: '' });
  const wrong = await fullmcp(['call', zoo, 'mutters', 'loud=yes']);
  expect(wrong.exit).toBe(2);
  expect(wrong.stderr).not.toContain('standard error');
});

test('a server that dies is called by its own name, and its lines are printed once', async () => {
  const { exit, stderr } = await fullmcp(['call', zoo, 'dies']);
  expect(exit).toBe(3);
  expect(stderr).toBe(
    `The server ${JSON.stringify(zoo)} has ended with exit code 3. It wrote to standard error:\nthe fence is open\nFATAL: out of cheese\n`,
  );
});

test('the lines of a server are bounded and cannot command the terminal', async () => {
  const loud = join(files, 'loud.mjs');
  const respond = `(id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')`;
  await writeFile(
    loud,
    `import { createInterface } from 'node:readline';
     const respond = ${respond};
     const server = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'loud', version: '1' } };
     createInterface({ input: process.stdin }).on('line', (line) => {
       const { id, method } = JSON.parse(line);
       if (method === 'initialize') return respond(id, server);
       if (method === 'tools/list') return respond(id, { tools: [{ name: 'x', inputSchema: { type: 'object' } }] });
       if (method !== 'tools/call')
         return id !== undefined && process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }) + '\\n');
       for (let n = 0; n < 5000; n++) console.error('\\u001b[2J\\u202eline ' + n + ' ' + 'x'.repeat(5000));
       respond(id, { isError: true, content: [{ type: 'text', text: 'no' }] });
     });`,
  );
  const { exit, stderr } = await fullmcp(['call', 'x', '--', process.execPath, loud]);
  expect(exit).toBe(1);
  // The answer comes on another pipe: how many lines were read before it differs.
  expect(stderr).toMatch(/\d lines left out/);
  expect([...stderr].filter((character) => '\u001b\u202e'.includes(character))).toEqual([]);
  expect(stderr.length).toBeLessThan(100_000);
});
