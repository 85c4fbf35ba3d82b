import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { clientCode, testCode } from '../../../../inspector/places/tools/copy/code.js';
import { commandLine, taskLine } from '../../../../inspector/places/tools/copy/command-line.js';
import { curl } from '../../../../inspector/places/tools/copy/curl.js';
import { fromQuery, toQuery } from '../../../../inspector/places/tools/from-query.js';
import { readArguments } from '../../../../src/cli/arguments/read-arguments.js';
import type { ConnectionView } from '../../../../src/inspector/contract/connection.js';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';

const connection: ConnectionView = {
  id: 'c1',
  address: 'http://localhost:3000/mcp',
  typed: 'http://localhost:3000/mcp',
  name: 'demo',
  status: 'ready',
  steps: [],
  revision: '2026-07-28',
  revisions: [],
  reconnects: 0,
  clientCapabilities: {},
  catalogVersion: 1,
  seesJournal: false,
  knownTasks: [],
  roots: [],
  subscriptions: [],
  follows: [],
  receiving: [],
  auth: { state: 'none', hops: [] },
  isFixed: false,
};

/** The words that a shell makes of a line. */
function wordsOf(line: string): readonly string[] {
  const script = `for word in ${line.slice(line.indexOf(' ') + 1)}; do printf '%s\\0' "$word"; done`;
  return execFileSync('sh', ['-c', script]).toString().split('\0').slice(0, -1);
}

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    sure: { type: 'boolean' },
    size: { enum: ['small', 'large'] },
    tags: { type: 'array', items: { type: 'string' } },
    customer: { type: 'object', properties: { name: { type: 'string' } } },
  },
};

describe('a call as a command line', () => {
  test('reads like one that a person would write', () => {
    const args = { count: 2, text: 'hello', sure: true, size: 'large' };
    expect(commandLine(connection, 'greet', { args, schema })).toBe(
      'fullmcp call http://localhost:3000/mcp greet count=2 text=hello sure=true size=large',
    );
  });

  test('takes the headers of a URL from variables of the shell', () => {
    const line = commandLine({ ...connection, headerNames: ['x-api-key'] }, 'greet', { args: {}, schema });
    expect(line).toBe('fullmcp call http://localhost:3000/mcp -H "x-api-key: $X_API_KEY" greet');
  });

  test.each<JsonObject>([
    { text: 'it\'s $(touch /tmp/owned) `id` \\ "quoted"\nand a second line; rm -rf ~' },
    { text: '@/etc/passwd' },
    { text: '--force' },
    { text: 'true' },
    { count: 'not a number' },
    { tags: ['a,b', "c'd"], customer: { name: 'Ann; ls' } },
    { unknown: '5' },
    { 'a.b': 1, 'x=y': 2, '--detach': true, '@file': 3, '{': 4 },
    { text: 'snow ☃ and 🦊' },
  ])('gives the command the same arguments: %j', (args) => {
    const [call, target, tool, ...words] = wordsOf(commandLine(connection, 'a tool; ls', { args, schema }));
    expect([call, target, tool]).toEqual(['call', connection.typed, 'a tool; ls']);
    expect(readArguments(words, schema)).toEqual(args);
  });
});

test('a task is copied as the command that shows it', () => {
  expect(taskLine(connection, 'a b')).toBe("fullmcp tasks http://localhost:3000/mcp 'a b'");
  const started = { ...connection, typed: '-- node server.js' };
  expect(taskLine(started, 'f713')).toBe('fullmcp tasks f713 -- node server.js');
});

test('a command that is started is the last thing on a command line, and has its words in code', () => {
  const started = { ...connection, address: 'node', typed: "-- node 'my server.js' 'it'\\''s' --stdio" };
  expect(commandLine(started, 'add', { args: { count: 1 }, schema })).toBe(
    `fullmcp call add count=1 ${started.typed}`,
  );
  expect(clientCode(started, 'add', {})).toContain(
    `connect({ command: 'node', args: ['my server.js', "it's", '--stdio'] })`,
  );
});

describe('a call as curl', () => {
  test('has the headers and the metadata of its revision, and is quoted', () => {
    const line = curl(connection, "it's", { text: "a'b" }) ?? '';
    const words = wordsOf(line);
    expect(words).toContain('MCP-Protocol-Version: 2026-07-28');
    expect(words).toContain("Mcp-Name: it's");
    const body = JSON.parse(words.at(-1) ?? '') as { params: JsonObject };
    expect(body.params).toMatchObject({ name: "it's", arguments: { text: "a'b" } });
  });

  test('opens a session first where the revision needs one', () => {
    const script = curl({ ...connection, revision: '2025-11-25' }, 'add', { a: 1 }) ?? '';
    expect(script.split('\n')).toHaveLength(3);
    expect(script).toContain('"method":"initialize"');
    expect(() => execFileSync('sh', ['-n', '-c', script])).not.toThrow();
  });

  test.each(['2026-07-28', '2025-11-25'])(
    'takes the token and the headers of %s from variables of the shell',
    (revision) => {
      const auth = { state: 'logged-in', hops: [] } as const;
      const headerNames = ['x-api-key', '1', 'x-$(id)'];
      const script =
        curl({ ...connection, revision, auth, headerNames }, 'add', { text: '$(curl x) $MCP_TOKEN' }) ?? '';
      const fake =
        'curl() { for word in "$@"; do printf \'%s\\n\' "$word"; done; }; MCP_TOKEN=t0; X_API_KEY=k1';
      const output = execFileSync('sh', ['-c', `${fake}\n${script}\nprintf '%s' "$session"`]).toString();
      const lines = output.split('\n');
      const requests = revision === '2026-07-28' ? 1 : 2;
      expect(lines.filter((line) => line === 'Authorization: Bearer t0')).toHaveLength(requests);
      expect(lines.filter((line) => line === 'x-api-key: k1')).toHaveLength(requests);
      // The first request of a session, whose reply the script reads, has them too.
      expect(script.split('Bearer $MCP_TOKEN').length - 1).toBe(script.split('\n').length);
      expect(output).not.toContain('uid=');
      expect(output).toContain('"text":"$(curl x) $MCP_TOKEN"');
    },
  );

  test('does not exist for a process', () => {
    expect(curl({ ...connection, address: 'node server.js' }, 'add', {})).toBeUndefined();
  });
});

describe('a call as code', () => {
  test('uses the client of this package', () => {
    expect(clientCode(connection, 'add', { a: 1 })).toBe(
      "import { connect } from 'fullmcp/client';\n\n" +
        "await using client = await connect('http://localhost:3000/mcp');\n" +
        "const result = await client.callTool('add', {\n  a: 1\n});\n" +
        'console.log(result.data ?? result.text);\n',
    );
  });

  test('cannot be left by a name, a value or a result', () => {
    const hostile = "'); process.exit(1); ('\\\n\u2028`";
    const code = testCode(connection, hostile, {
      args: { text: hostile },
      outcome: { content: [{ type: 'text', text: hostile }] },
    });
    // Inside of literals, in which nothing ends before the end.
    const escaped = JSON.stringify(hostile).slice(1, -1);
    expect(code.split(escaped)).toHaveLength(5);
    expect(code.replaceAll(escaped, '')).not.toContain('process.exit');
  });

  test('expects what came', () => {
    const outcome = { structuredContent: { total: 3 }, content: [] };
    expect(testCode(connection, 'sum', { args: {}, outcome })).toContain('toEqual({\n    total: 3\n  })');
  });
});

test('an address fills the form with values of the types that the schema wants', () => {
  const args = { text: '5', count: 5, sure: false, tags: ['a'], customer: { name: 'Ann' } };
  const query = new URLSearchParams(toQuery(args));
  expect(fromQuery(query, schema)).toEqual(args);
  expect(fromQuery(new URLSearchParams('count=x'), schema)).toEqual({ count: 'x' });
  expect(fromQuery(new URLSearchParams('customer.name=5&__proto__.polluted=1'), schema)).toEqual({
    customer: { name: '5' },
    ['__proto__']: { polluted: 1 },
  });
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});
