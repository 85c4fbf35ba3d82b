// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of configs are written like that
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { connect } from '../../../../src/client.js';
import { checkConfig, ignoredFields } from '../../../../src/connect/config/check.js';
import { entryTarget } from '../../../../src/connect/config/entry-target.js';
import { parseConfig, readConfigFile } from '../../../../src/connect/config/file.js';
import { gateway } from '../../../../src/gateway.js';
import { createServer, McpError, tool } from '../../../../src/index.js';
import { faultOf } from '../../../../src/protocol/encoding/json-fault.js';

function mistakesOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    if (!McpError.is(error)) throw error;
    expect(error.code).toBe('invalid_params');
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.slice(2));
  }
  throw new Error('There was no mistake');
}

function parse(config: object, env: Record<string, string> = {}): unknown {
  return parseConfig(JSON.stringify(config), { env }).mcpServers;
}

describe('a config', () => {
  test('is accepted in the forms that other programs write', () => {
    const mcpServers = {
      'file-system': { command: 'npx', args: ['-y', 'server-filesystem', '/tmp'], env: { A: '1' }, cwd: '/' },
      remote: { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer x' } },
      old: {
        type: 'sse',
        url: 'http://localhost:3000/sse',
        alwaysAllow: ['x'],
        timeout: 3,
        description: 'd',
      },
      socket: { url: 'wss://example.com/mcp' },
      off: { command: 'x', disabled: true, autoApprove: [] },
    };
    expect(checkConfig({ mcpServers }).mcpServers).toEqual(mcpServers);
    expect(parse({ servers: mcpServers, inputs: [] })).toEqual(mcpServers);
    expect(parse({ mcpServers: {} })).toEqual({});
  });

  test('may have numbers and null as variables of a process, as VS Code writes them', async () => {
    const env = { PORT: 3000, LANG: null, KEY: '${SECRET}', RATIO: 0.5 };
    const servers = parse({ servers: { own: { command: 'node', env } } }, { SECRET: 's' });
    expect(servers).toEqual({ own: { command: 'node', env: { PORT: '3000', KEY: 's', RATIO: '0.5' } } });
    // The variable is there without a value, so that the process does not inherit it.
    expect(Object.keys((servers as { own: { env: object } }).own.env)).toContain('LANG');
    expect(checkConfig({ mcpServers: servers }).mcpServers).toBe(servers);
  });

  test('may have the login of Cursor, which is not used, and whose variables need not exist', () => {
    const auth = {
      CLIENT_ID: '${env:MCP_CLIENT_ID}',
      CLIENT_SECRET: '${env:MCP_CLIENT_SECRET}',
      scopes: ['a'],
    };
    const url = 'https://example.com/mcp';
    expect(parse({ mcpServers: { figma: { url, auth } } })).toEqual({ figma: { url } });
    const entry = { url, auth } as never;
    expect(checkConfig({ mcpServers: { figma: entry } }).mcpServers).toEqual({ figma: entry });
    expect(entryTarget(entry)).toEqual({ target: { url }, options: {} });
    expect(mistakesOf(() => parse({ mcpServers: { figma: { url, auth: { scopes: ['a'] } } } }))).toEqual([
      'figma: "auth" must be a token, a function that returns one, or an object such as oauth() makes',
    ]);
  });

  test('names misspelled fields with the right name, and accepts the fields of hosts and comments', () => {
    const mistakes = mistakesOf(() =>
      parse({
        mcpServers: {
          arg: { command: 'node', arg: ['server.js'] },
          env: { command: 'node', Env: { A: '1' } },
          header: { url: 'https://example.com', header: {}, autoAprove: [] },
          cmd: { cmd: 'node', arguments: [] },
          gemini: { httpUrl: 'https://example.com/mcp' },
        },
      }),
    );
    expect(mistakes).toEqual([
      'arg: it has "arg". Did you mean "args"?',
      'env: it has "Env". Did you mean "env"?',
      'header: it has "header". Did you mean "headers"?',
      'cmd: it has neither "command" (a process to start) nor "url" (an address)',
      'cmd: it has "cmd". Did you mean "command"?',
      'cmd: it has "arguments". Did you mean "args"?',
      'gemini: it has "httpUrl", which only some programs read. Write "url"',
    ]);
    // Fields as Claude, VS Code, Cursor, Cline, Roo Code, Windsurf, Gemini, Kiro, Copilot and LibreChat have them.
    const own = {
      ...{ type: 'stdio', command: 'x', timeout: 60, envFile: '.env', dev: { watch: '*' }, tools: ['*'] },
      ...{ autoApprove: [], alwaysAllow: [], disabledTools: [], trust: true, includeTools: [], oauth: {} },
      ...{ transportType: 'stdio', description: 'd', iconPath: 'i', initTimeout: 3, headersHelper: 'x' },
      ...{ _comment: 'mine', $schema: 's', '// note': 'n' },
    };
    expect(ignoredFields(own)).toEqual([]);
    expect(parse({ mcpServers: { own } })).toEqual({ own });
    expect(ignoredFields({ ...own, commandPalette: true } as never)).toEqual(['commandPalette']);
    expect(parse({ mcpServers: { own: { ...own, commandPalette: true } } })).toBeDefined();
  });

  test('has a field that nobody knows reported as a problem, by a client and by a gateway', async () => {
    const server = createServer({ name: 'a', version: '1.0.0', tools: { x: tool({ run: () => 'x' }) } });
    const mcpServers = { a: { target: server, colour: 'red' } as object as { target: typeof server } };
    const client = await connect({ mcpServers });
    const expected = 'a: the field "colour" of its config is not known, and is ignored';
    expect(client.info().problems).toEqual([expected]);
    await client.close();
    const logged: string[] = [];
    const front = await gateway({ mcpServers }, { logger: (_level, message) => logged.push(message) });
    expect(logged).toEqual([expect.stringContaining(expected)]);
    await front.close();
  });

  test('has its mistakes reported together, without its values', () => {
    const secret = 'hunter2';
    const mistakes = mistakesOf(() =>
      checkConfig({
        mcpServers: {
          'my server': { command: 'x' },
          both: { command: 'x', url: 'https://example.com' },
          neither: { type: 'http' },
          list: ['x'],
          args: { command: 'x', args: [secret, 3] },
          env: { command: '', env: { DEBUG: true, TOKEN: secret }, cwd: 7 },
          url: { url: `ftp://${secret}`, headers: secret },
          more: { url: 'https://example.com', headers: { 'X-Count': 1 }, disabled: 'no', auth: 1 },
        },
      }),
    );
    expect(mistakes).toEqual([
      expect.stringContaining('"my server": a server\'s name consists of up to 64 letters'),
      'both: it has both "command" and "url": give only one of them',
      'neither: it has neither "command" (a process to start) nor "url" (an address)',
      'list: it must be an object',
      'args: "args" must be an array of strings',
      'env: "command" must be a non-empty string',
      'env: "env.DEBUG" must be a string, in quotes',
      'env: "cwd" must be a non-empty string',
      expect.stringContaining('url: "url" must be a URL'),
      'url: "headers" must be an object whose values are strings',
      'more: "headers.X-Count" must be a string, in quotes',
      'more: "auth" must be a token, a function that returns one, or an object such as oauth() makes',
      'more: "disabled" must be true or false',
    ]);
    expect(mistakes.join()).not.toContain(secret);
    for (const value of [undefined, [], { mcpServers: [] }, { other: {} }])
      expect(mistakesOf(() => checkConfig(value))).toEqual([expect.stringContaining('"mcpServers"')]);
  });
});

describe('variables of a config', () => {
  const env = { HOME: '/home/ada', EMPTY: '', KEY: 'sesame', NESTED: '${KEY}' };

  test('are replaced, once, in every field that may contain them', () => {
    const servers = {
      a: {
        command: '${HOME}/bin/x',
        args: ['${env:KEY}', '${MISSING:-else}', '${EMPTY:-empty}', '${EMPTY}', '${NESTED}', '${A B} $HOME'],
        env: { K: 'x${KEY}y${KEY}' },
        cwd: '${HOME}',
      },
      b: {
        url: 'https://${HOST:-example.com}/mcp',
        headers: { A: 'Bearer ${KEY}' },
        auth: '${KEY}',
        description: '${KEY}',
      },
    };
    expect(parse({ mcpServers: servers }, env)).toEqual({
      a: {
        command: '/home/ada/bin/x',
        args: ['sesame', 'else', 'empty', '', '${KEY}', '${A B} $HOME'],
        env: { K: 'xsesameysesame' },
        cwd: '/home/ada',
      },
      b: {
        url: 'https://example.com/mcp',
        headers: { A: 'Bearer sesame' },
        auth: 'sesame',
        description: '${KEY}',
      },
    });
  });

  test('that are not set are reported with server, field and name, together with all other mistakes', () => {
    const mistakes = mistakesOf(() =>
      parse(
        {
          mcpServers: {
            a: { command: 'x', args: ['${KEY}', '${NOT_SET}'], env: { T: '${ALSO_NOT}' } },
            b: { url: 'https://example.com', headers: { A: '${input:token}' } },
            c: {},
            off: { command: '${NOWHERE}', disabled: true },
            proto: { command: '${constructor}' },
          },
        },
        env,
      ),
    );
    expect(mistakes).toEqual([
      'a: "args[1]" needs the environment variable NOT_SET, which is not set',
      'a: "env.T" needs the environment variable ALSO_NOT, which is not set',
      expect.stringContaining('b: "headers.A" needs ${input:token}'),
      'proto: "command" needs the environment variable constructor, which is not set',
      expect.stringContaining('c: it has neither'),
    ]);
    expect(mistakes.join()).not.toContain('sesame');
  });

  test('are left unchanged in an object that the program passes', () => {
    const mcpServers = { a: { command: '${HOME}' } };
    expect(checkConfig({ mcpServers }).mcpServers).toEqual(mcpServers);
  });
});

describe('a config file that is not JSON', () => {
  test.each([
    ['{\n  "mcpServers": {\n    // my server\n  }\n}', 3, 5, 'comments are not supported'],
    ['{ "a": 1, /* x */ "b": 2 }', 1, 11, 'comments are not supported'],
    ['{\n "a": [1, 2,]\n}', 2, 13, 'remove the comma before this ]'],
    ['{ "a": 1, }', 1, 11, 'remove the comma before this }'],
    ['{ "a": 1,, "b": 2 }', 1, 10, 'there is one comma too many'],
    ['[1,, 2]', 1, 4, 'there is one comma too many'],
    ['[,]', 1, 2, 'there is one comma too many'],
    ['{ "a": 1 "b": 2 }', 1, 10, 'a comma or } is missing'],
    ['{ a: 1 }', 1, 3, 'a name in double quotes is missing'],
    ['{ "a" 1 }', 1, 7, 'a colon is missing'],
    ['{ "a": tru }', 1, 8, 'there is no JSON value here'],
    ['{ "a": "x\\q" }', 1, 8, 'the string that begins here is not valid'],
    ['{ "a": [1', 1, 10, 'a [ is still open'],
    ['', 1, 1, 'the text ends too early'],
    ['{} {}', 1, 4, 'there is more after the end of the JSON'],
    ['{ "a": }', 1, 8, 'there is no JSON value here'],
  ])('reports where %j is wrong: line %i, column %i', (text, line, column, reason) => {
    expect(() => parseConfig(text, { env: {}, name: 'mcp.json' })).toThrow(
      expect.objectContaining({
        code: 'invalid_params',
        message: expect.stringContaining(`mcp.json is not JSON: line ${line}, column ${column}: `),
      }),
    );
    expect(faultOf(text).reason).toContain(reason);
  });

  test('is never quoted', () => {
    expect(() => parseConfig('{"mcpServers": {"a": {"env": {"KEY": hunter2}}}}', { env: {} })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter') }),
    );
  });

  test('has its fault at or before the place where an invalid character was inserted', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.nat(), (json, seed) => {
        expect(faultOf(json)).toMatchObject({ line: 1, column: json.length + 1 });
        const at = seed % (json.length + 1);
        // A fault inside a string or a number is reported at its beginning, or right after its valid part.
        expect(faultOf(`${json.slice(0, at)}\u0001${json.slice(at)}`).column).toBeLessThanOrEqual(at + 1);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a config file', () => {
  test('may begin with a byte order mark', async () => {
    const readFile = async (): Promise<string> => '\uFEFF{"mcpServers": {"a": {"command": "${X}"}}}';
    expect(await readConfigFile('mcp.json', { readFile, env: { X: 'node' } })).toEqual({
      mcpServers: { a: { command: 'node' } },
    });
  });

  test('is named if it is missing or invalid', async () => {
    const missing = async (): Promise<string> => {
      throw new Error('ENOENT: no such file');
    };
    await expect(readConfigFile('mcp.json', { readFile: missing, env: {} })).rejects.toMatchObject({
      code: 'invalid_params',
      message: 'The config mcp.json cannot be read: ENOENT: no such file',
    });
    const wrong = async (): Promise<string> => '{"mcpServers": {"a": {}}}';
    await expect(readConfigFile('mcp.json', { readFile: wrong, env: {} })).rejects.toThrow(
      /^The config in mcp\.json has mistakes:\n- a: it has neither/,
    );
  });
});
