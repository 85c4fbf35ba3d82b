import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { createServer, prompt, resource, tool } from 'fullmcp';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { folderWith, linkPackages, plainEnv, program } from '../project/support.js';
import { fullmcp, type Ran, type RunOptions } from '../support/run-cli.js';
import { HOSTILE, served, UNSAFE } from './support.js';

const execute = promisify(execFile);
const SECRET = 'open-sesame-4711';
const VARIABLE = '$\u007bSHOP_KEY}';

const shop = await served(
  createServer({
    name: 'shop',
    version: '1.0.0',
    tools: {
      price: tool({
        description: 'The price of an item',
        input: z.object({ item: z.string() }),
        output: z.object({ item: z.string(), price: z.number(), tags: z.array(z.string()), id: z.string() }),
        run: ({ item }) => ({ item, price: 2, tags: ['fresh', 'green'], id: crypto.randomUUID() }),
      }),
      echo: tool({ input: z.object({ text: z.string() }), run: ({ text }) => text }),
      login: tool({
        input: z.object({ key: z.string() }),
        run: ({ key }) => ({ key, password: 'hunter2-hunter2', greeting: `in with ${key}` }),
      }),
      order: tool({
        run: async (_, { ask }) => {
          const { size } = await ask('size', {
            message: 'Which size?',
            schema: z.object({ size: z.string() }),
          });
          return `one ${size}`;
        },
      }),
      hostile: tool({ run: () => HOSTILE }),
    },
    resources: { 'shop://hours': resource({ name: 'hours', read: () => 'from 9 to 5' }) },
    prompts: {
      sell: prompt({ args: z.object({ item: z.string() }), run: ({ item }) => `Sell a ${item}` }),
    },
  }),
);

interface Written {
  readonly requests: readonly object[];
  readonly [field: string]: unknown;
}

/** A folder with a file of requests; returns the path of the file. */
async function file(content: Written | string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fullmcp-requests-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'mcp.requests.json');
  const text = typeof content === 'string' ? content : JSON.stringify({ version: 1, ...content });
  await writeFile(path, text);
  return path;
}

async function run(
  content: Written | string,
  words: readonly string[] = [],
  options?: RunOptions,
): Promise<Ran> {
  return fullmcp(['test', shop, '--file', await file(content), ...words], options);
}

/** The sentences about one request. */
async function saidOf(request: object, more: object = {}): Promise<readonly string[]> {
  const ran = await run({ ...more, requests: [{ name: 'it', ...request }] }, ['--json']);
  expect(ran.stderr).toBe('');
  const [result] = ran.json<{ results: { problems: { says: string }[] }[] }>().results;
  return result?.problems.map(({ says }) => says) ?? [];
}

describe('fullmcp test', () => {
  it('runs tools, resources and prompts in their order, and exits with 0 if all are as expected', async () => {
    const ran = await run({
      requests: [
        {
          name: 'a price',
          tool: 'price',
          arguments: { item: 'fig' },
          expect: { contains: { price: 2, tags: ['green'] } },
        },
        { name: 'the hours', resource: 'shop://hours', expect: { equal: 'from 9 to 5' } },
        {
          name: 'a pitch',
          prompt: 'sell',
          arguments: { item: 'fig' },
          expect: { equal: [{ role: 'user', text: 'Sell a fig' }] },
        },
        { name: 'an order', tool: 'order', answers: { size: 'large' }, expect: { equal: 'one large' } },
        { name: 'no such item', tool: 'price', arguments: {}, expect: { fails: 'item' } },
        { name: 'no expectation', tool: 'echo', arguments: { text: 'x' } },
      ],
    });
    expect([ran.exit, ran.stderr]).toEqual([0, expect.stringContaining('6 passed, 0 failed.')]);
    expect(ran.stdout.replaceAll(/ {2}\d+ ms/g, '').split('\n')).toEqual([
      'ok        a price',
      'ok        the hours',
      'ok        a pitch',
      'ok        an order',
      'ok        no such item',
      'ok        no expectation',
      '',
    ]);
  });

  it.each([
    [
      { tool: 'echo', arguments: { text: 'Hi' }, expect: { equal: 'Ho' } },
      'The result is "Hi"; "Ho" was expected.',
    ],
    [
      {
        tool: 'price',
        arguments: { item: 'fig' },
        expect: { equal: { item: 'fig', price: 3, tags: ['fresh'] }, ignore: ['id'] },
      },
      'price is 2; 3 was expected.',
      'tags[1] is "green", and was not expected.',
    ],
    [
      { tool: 'price', arguments: { item: 'fig' }, expect: { contains: { tags: ['ripe'] } } },
      'tags is ["fresh","green"], which does not contain "ripe".',
    ],
    [
      { tool: 'echo', arguments: { text: 'Hi' }, expect: { contains: 'Ho' } },
      'The text does not contain "Ho"; it is "Hi".',
    ],
    [
      {
        tool: 'price',
        arguments: { item: 'fig' },
        expect: { matches: { properties: { price: { type: 'string' } } } },
      },
      expect.stringMatching(/^The result does not match the schema: .*price.*string/),
    ],
    [
      { tool: 'echo', arguments: { text: 'Hi' }, expect: { fails: true } },
      'It was expected to fail, and it succeeded with "Hi".',
    ],
    [
      { tool: 'echo', arguments: {}, expect: { fails: 'price' } },
      expect.stringMatching(/^It was expected to fail with "price", and it failed with ".*text.*" \(/),
    ],
    [{ tool: 'echo', arguments: {} }, expect.stringMatching(/^It failed with ".*text.*" \(/)],
    [{ tool: 'order' }, 'The server asked "Which size?", and the request has no "answers".'],
    [
      { tool: 'order', answers: { colour: 'red' } },
      'The server asked "Which size?", and "answers" has no "size".',
    ],
  ])('says in a sentence what differs: %j', async (request, ...sentences) => {
    expect(await saidOf(request)).toEqual(sentences);
  });

  it('exits with 1, writes a JUnit file and prints one JSON object if something differs', async () => {
    const path = await file({
      requests: [
        { name: 'right', tool: 'echo', arguments: { text: 'a' }, expect: { equal: 'a' } },
        { name: 'wrong <&">', tool: 'echo', arguments: { text: 'a\u0001' }, expect: { equal: '<b>' } },
      ],
    });
    const junit = `${path}.xml`;
    const ran = await fullmcp(['test', shop, '--file', path, '--junit', junit, '--json']);
    expect(ran.exit).toBe(1);
    expect(ran.json()).toMatchObject({ ok: false, passed: 1, failed: 1, skipped: 0 });
    const xml = await readFile(junit, 'utf8');
    expect(xml).toContain('<testsuites tests="2" failures="1" skipped="0"');
    expect(xml).toContain('name="wrong &lt;&amp;&quot;&gt;"');
    expect(xml).toContain('The result is &quot;a\\\\u{1}&quot;; &quot;&lt;b&gt;&quot; was expected.');
    expect(xml).not.toContain('\u0001');
  });

  it('runs only the requests that --only names, and refuses a name that no request has', async () => {
    const content = {
      requests: [
        { name: 'one', tool: 'echo', arguments: { text: 'a' }, expect: { equal: 'b' } },
        { name: 'two', tool: 'echo', arguments: { text: 'a' }, expect: { equal: 'a' } },
      ],
    };
    const ran = await run(content, ['--only', 'two']);
    expect([ran.exit, ran.stdout]).toEqual([0, expect.not.stringContaining('one')]);
    const wrong = await run(content, ['--only', 'twoo']);
    expect([wrong.exit, wrong.stderr]).toEqual([2, 'No request is called "twoo". Did you mean "two"?\n']);
  });

  it('shows the request that runs on a terminal, and draws nothing in a pipe', async () => {
    const content = { requests: [{ name: 'slowly', tool: 'echo', arguments: { text: 'a' } }] };
    expect((await run(content, [], { terminal: true })).stderr).toContain('running  slowly');
    expect((await run(content)).stderr).not.toContain('running');
  });

  it('writes what came back with --update, and leaves what a person expects in other words', async () => {
    const path = await file({
      requests: [
        {
          name: 'a',
          tool: 'echo',
          arguments: { text: 'costs $\u007b5} or $$\u007b5}' },
          expect: { equal: 'old' },
        },
        { name: 'b', tool: 'echo', arguments: { text: 'new' }, expect: { contains: 'old' } },
      ].map((request) => ({
        ...request,
        arguments: { text: request.arguments.text.replaceAll('${', () => '$${') },
      })),
    });
    const ran = await fullmcp(['test', shop, '--file', path, '--update']);
    expect([ran.exit, ran.stderr]).toEqual([1, `${path} was updated.\n1 passed, 1 failed.\n`]);
    const written = JSON.parse(await readFile(path, 'utf8'));
    expect(written.requests[1].expect).toEqual({ contains: 'old' });
    expect(written.definitions.tools.echo).toMatchObject({ inputSchema: { type: 'object' } });
    expect(Object.keys(written.requests[0])).toEqual(['name', 'tool', 'arguments', 'expect']);
    const again = await fullmcp(['test', shop, '--file', path, '--only', 'a']);
    expect([again.exit, again.stderr]).toEqual([0, '2 passed, 0 failed.\n']);
    const before = await readFile(path, 'utf8');
    await fullmcp(['test', shop, '--file', path, '--update', '--only', 'a']);
    expect(await readFile(path, 'utf8')).toBe(before);
  });

  it('does not write over a file that was changed while the requests ran', async () => {
    const path = await file({
      requests: [{ name: 'a', tool: 'echo', arguments: { text: 'new' }, expect: { equal: 'old' } }],
    });
    const changed = JSON.stringify({ version: 1, requests: [] });
    const ran = await fullmcp(['test', shop, '--file', path, '--update'], {
      onStdout: () => void import('node:fs').then(({ writeFileSync }) => writeFileSync(path, changed)),
    });
    expect([ran.exit, ran.stderr]).toEqual([
      2,
      expect.stringContaining('was changed in the meantime. Nothing was written.'),
    ]);
    expect(await readFile(path, 'utf8')).toBe(changed);
  });
});

describe('the variables of mcp.requests.json', () => {
  const request = { name: 'in', tool: 'login', arguments: { key: VARIABLE } };

  it('are sent, but neither printed nor written back', async () => {
    vi.stubEnv('SHOP_KEY', SECRET);
    const path = await file({
      env: ['SHOP_KEY'],
      requests: [{ ...request, expect: { equal: { greeting: 'in' } } }],
    });
    const junit = `${path}.xml`;
    const ran = await fullmcp(['test', shop, '--file', path, '--update', '--junit', junit]);
    expect([ran.exit, ran.stdout]).toEqual([
      0,
      expect.stringContaining(`greeting is "in with ${VARIABLE}"; "in" was expected.`),
    ]);
    const written = await readFile(path, 'utf8');
    for (const text of [ran.stdout, ran.stderr, written, await readFile(junit, 'utf8')]) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain('hunter2');
    }
    expect(JSON.parse(written).requests[0]).toEqual({
      ...request,
      expect: { equal: { key: VARIABLE, password: '***', greeting: `in with ${VARIABLE}` } },
    });
    const again = await fullmcp(['test', shop, '--file', path]);
    expect([again.exit, again.stderr]).toEqual([0, '2 passed, 0 failed.\n']);
  });

  it('can be a constant of a schema, and characters of a pattern that look like one are escaped', async () => {
    vi.stubEnv('SHOP_KEY', SECRET);
    const said = await saidOf(
      {
        tool: 'login',
        arguments: { key: VARIABLE },
        expect: {
          matches: { properties: { key: { const: VARIABLE }, greeting: { pattern: '^in with [^$]*$' } } },
        },
      },
      { env: ['SHOP_KEY'] },
    );
    expect(said).toEqual([]);
    const text = 'costs $$\u007b5}';
    const matches = { pattern: '^costs \\$\\{5\\}$' };
    expect(await saidOf({ tool: 'echo', arguments: { text }, expect: { matches } })).toEqual([]);
  });

  it('are refused before anything is sent if the file does not list them, or if they are not set', async () => {
    vi.stubEnv('SHOP_KEY', SECRET);
    const unlisted = await run({ requests: [request] });
    expect([unlisted.exit, unlisted.stderr]).toEqual([
      2,
      'The request "in".arguments.key uses the variable SHOP_KEY, which "env" of the file does not list. Add it there if the server may see its value.\n',
    ]);
    vi.stubEnv('SHOP_KEY', undefined);
    const unset = await run({ env: ['SHOP_KEY'], requests: [request] });
    expect([unset.exit, unset.stderr]).toEqual([
      2,
      'The request "in".arguments.key needs the environment variable SHOP_KEY, which is not set.\n',
    ]);
  });
});

describe('a project without mcp.requests.json', () => {
  it.each([
    ['src/shop.ts', { target: 'src/shop.ts' }],
    ['./shop.mjs', { target: 'shop.mjs' }],
    ['http://localhost:3000/mcp', {}],
    ['../shop.ts', {}],
  ])('is shown a first one with the target that was typed: %s', async (target, named) => {
    const { exit, stderr } = await fullmcp(['test', target, '--file', 'none.requests.json']);
    expect(exit).toBe(2);
    const [, first = ''] =
      /^There is no none\.requests\.json\. Save this as none\.requests\.json, with the name of a tool, and run the command again:\n( {2}\{\n.*\})\n$/s.exec(
        stderr,
      ) ?? [];
    expect(JSON.parse(first)).toEqual({ version: 1, ...named, requests: [{ name: '…', tool: '…' }] });
  });
});

test('the requests of a project in another folder are pointed at, instead of a first file', async () => {
  const folder = await folderWith({ 'shop/src/server.js': '', 'shop/mcp.requests.json': '{}' });
  const target = join(folder, 'shop/src/server.js');
  const { exit, stderr } = await fullmcp(['test', target]);
  expect(exit).toBe(2);
  expect(stderr).toMatch(
    /^There is no mcp\.requests\.json in this folder, but .*mcp\.requests\.json exists\. /,
  );
  const [, file = ''] = /Run it with: fullmcp test --file (.*)\n$/.exec(stderr) ?? [];
  expect(resolve(file)).toBe(join(folder, 'shop/mcp.requests.json'));
});

describe('a hostile mcp.requests.json', () => {
  it.each([
    ['an address', 'https://evil.example/mcp.js'],
    ['a file outside of the folder', '../../etc/server.js'],
    ['an absolute path', '/etc/server.js'],
    ['a path of Windows', 'c:\\server.js'],
    ['an option', '--config=x.js'],
    ['a server of another config', 'github'],
  ])('cannot choose %s as its target', async (_, target) => {
    const path = await file({ target, requests: [] });
    const ran = await fullmcp(['test', '--file', path]);
    expect([ran.exit, ran.stderr]).toEqual([
      2,
      expect.stringContaining('"target" must be a file below its folder'),
    ]);
  });

  it.each([
    ['is not JSON', '{\n  "version": 1,\n  "requests": [,]\n}', /line 3, column 16: /],
    ['has a field twice', '{"version":1,"requests":[],"requests":[]}', /the name "requests" appears twice/],
    ['is of a later version', '{"version":2,"requests":[]}', /reads version 1/],
    ['has an unknown field', '{"version":1,"requests":[{"name":"a","tol":"b"}]}', /requests\[0\].*tol/],
    [
      'has two requests of one name',
      '{"version":1,"requests":[{"name":"a","tool":"b"},{"name":"a","tool":"c"}]}',
      /two requests have the name "a"/,
    ],
    [
      'has a request without a subject',
      '{"version":1,"requests":[{"name":"a"}]}',
      /requests\[0\] \(a\) needs one of "tool", "resource" and "prompt"/,
    ],
    [
      'has a pattern that would never end',
      '{"version":1,"requests":[{"name":"a","tool":"b","expect":{"matches":{"pattern":"^(a+)+$"}}}]}',
      /"matches" has a pattern that may take forever/,
    ],
    [
      'has a variable in a pattern',
      '{"version":1,"env":["A"],"requests":[{"name":"a","tool":"b","expect":{"matches":{"items":[{"pattern":"^$\u007bA}-"}]}}}]}',
      /requests\[0\] \(a\): a pattern of "matches" has "\$\{" in it.*"contains", "equal" or "const"/,
    ],
    [
      'has a variable in a name of patternProperties',
      '{"version":1,"env":["A"],"requests":[{"name":"a","tool":"b","expect":{"matches":{"patternProperties":{"^$\u007bA}$":{}}}}}]}',
      /a pattern of "matches" has "\$\{" in it/,
    ],
    [
      'is nested without end',
      `{"version":1,"requests":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      /nested too deep/,
    ],
  ])('that %s is refused with the place of the mistake', async (_, text, message) => {
    const ran = await run(text);
    expect([ran.exit, ran.stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('that is a link or a folder is not read', async () => {
    const path = await file({ requests: [] });
    const link = `${path}.link`;
    await symlink('/etc/passwd', link);
    const ran = await fullmcp(['test', shop, '--file', link]);
    expect([ran.exit, ran.stderr]).toEqual([2, expect.stringContaining('is not a file, but a link.')]);
    expect((await fullmcp(['test', shop, '--file', tmpdir()])).exit).toBe(2);
  });

  it.each([
    ['has 100 MB', async (path: string) => truncate(path, 100_000_000), /is larger than 5 MB/],
    ['is not UTF-8', async (path: string) => writeFile(path, Buffer.from([0xff, 0xfe])), /is not UTF-8/],
  ])('that %s is not read', async (_, make, message) => {
    const path = await file({ requests: [] });
    await make(path);
    const ran = await fullmcp(['test', shop, '--file', path, '--update']);
    expect([ran.exit, ran.stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('that is a pipe does not make the command wait', { skip: process.platform === 'win32' }, async () => {
    const path = `${await file({ requests: [] })}.pipe`;
    await execute('mkfifo', [path]);
    const ran = await fullmcp(['test', shop, '--file', path]);
    expect([ran.exit, ran.stderr]).toEqual([2, expect.stringContaining('is not a file')]);
  });

  it('has names such as __proto__ as ordinary names', async () => {
    const text = `{"version":1,"requests":[
      {"name":"__proto__","tool":"echo","arguments":{"text":"a","__proto__":{"polluted":1}},
       "expect":{"contains":{"__proto__":{"polluted":1}}}},
      {"name":"constructor","tool":"__proto__","expect":{"fails":true}},
      {"name":"answers","tool":"order","answers":{"__proto__":{"size":"large"}}}
    ],"definitions":{"tools":{"__proto__":{"description":"x"},"constructor":{}}}}`;
    const path = await file(text);
    const ran = await fullmcp(['test', shop, '--file', path, '--json']);
    expect(ran.exit).toBe(1);
    const { results } = ran.json<{ results: { name: string; problems: { says: string }[] }[] }>();
    expect(results.map(({ name, problems }) => [name, problems.length])).toEqual([
      ['__proto__', 1],
      ['__proto__', 1],
      ['constructor', 0],
      ['answers', 1],
    ]);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    await fullmcp(['test', shop, '--file', path, '--update']);
    expect(JSON.parse(await readFile(path, 'utf8')).requests).toEqual(JSON.parse(text).requests);
  });

  it('does not make the command print a variable that it may use, in whatever it expects', async () => {
    vi.stubEnv('SHOP_KEY', SECRET);
    const expectations = [
      { equal: VARIABLE },
      { equal: { [VARIABLE]: VARIABLE } },
      { contains: `x${VARIABLE}` },
      { matches: { const: VARIABLE } },
      { fails: VARIABLE },
    ];
    const requests = expectations.flatMap((expected, at) => [
      { name: `a${at}`, tool: 'echo', arguments: { text: VARIABLE.repeat(2) }, expect: expected },
      { name: `b${at}`, tool: VARIABLE, arguments: {}, expect: expected },
    ]);
    const path = await file({ env: ['SHOP_KEY'], requests });
    for (const words of [[], ['--json'], ['--junit', `${path}.xml`], ['--update'], ['--debug']]) {
      const ran = await fullmcp(['test', shop, '--file', path, ...words]);
      expect(ran.stdout + ran.stderr).not.toContain(SECRET);
    }
    for (const name of [path, `${path}.xml`]) expect(await readFile(name, 'utf8')).not.toContain(SECRET);
  });

  it('cannot control the terminal, and neither can a result', async () => {
    const ran = await run(
      { requests: [{ name: `x ${HOSTILE}`, tool: 'hostile', expect: { equal: HOSTILE.slice(1) } }] },
      [],
      { terminal: true, env: { NO_COLOR: '1' } },
    );
    expect(ran.exit).toBe(1);
    for (const character of UNSAFE.slice(1)) expect(ran.stdout + ran.stderr).not.toContain(character);
    expect(ran.stdout).not.toContain('\u001b');
  });
});

describe('fullmcp test in a project made by fullmcp new', { timeout: 240_000 }, () => {
  it('fails after a change of a description, of a schema and of a value, each with a sentence', async () => {
    const folder = join(await folderWith({}), 'shop');
    expect((await fullmcp(['new', folder, '--yes'])).exit).toBe(0);
    await linkPackages(folder);
    const test = async (
      ...words: readonly string[]
    ): Promise<{ stdout: string; stderr: string; code: number }> => {
      const at = { cwd: folder, env: plainEnv };
      return execute(process.execPath, [program, 'test', '--timeout', '100s', ...words], at).then(
        ({ stdout, stderr }) => ({ stdout, stderr, code: 0 }),
        (error) => error as { stdout: string; stderr: string; code: number },
      );
    };
    expect(await test()).toMatchObject({ code: 0, stderr: expect.stringContaining('2 passed, 0 failed.') });
    expect(await test('--update')).toMatchObject({ code: 0 });
    expect(await test()).toMatchObject({ code: 0, stderr: '3 passed, 0 failed.\n' });

    const server = join(folder, 'src/server.ts');
    const text = await readFile(server, 'utf8');
    const junit = join(folder, 'report.xml');
    for (const [what, was, is, name, ...says] of CHANGES) {
      expect(text, what).toContain(was);
      await writeFile(server, text.replace(was, is));
      const { code, stdout } = await test('--json', '--junit', junit);
      expect(code, what).toBe(1);
      const { ok, passed, failed, results } = JSON.parse(stdout);
      expect([ok, passed, failed]).toEqual([false, 2, 1]);
      const found = results.filter(({ problems }: { problems: object[] }) => problems.length > 0);
      expect(found).toMatchObject([{ name, problems: says.map((one) => ({ says: one })) }]);
      const xml = await readFile(junit, 'utf8');
      expect(unclosed(xml)).toEqual([]);
      expect(xml).toContain('<testsuites tests="3" failures="1" skipped="0"');
      expect(xml.match(/<failure /g)).toHaveLength(1);
    }
    expect(await test('--only', 'greets Ada')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('          The result is "Hi, Ada!"; "Hello, Ada!" was expected.\n'),
      stderr: expect.stringContaining('1 failed.'),
    });
  });
});

/** Each change of the server: its text before and after, the name in the report, and its sentences. */
const CHANGES = [
  [
    'a description',
    'Greet a person',
    'Greet somebody',
    'greet',
    'Its description was "Greet a person" and is "Greet somebody".',
  ],
  [
    'a schema',
    "z.string().describe('The name of the person')",
    "z.string().max(20).describe('The name of the person')",
    'greet',
    'Its input schema changed: name: maxLength was not set and is 20.',
  ],
  ['a value', 'Hello, ', 'Hi, ', 'greets Ada', 'The result is "Hi, Ada!"; "Hello, Ada!" was expected.'],
] as const;

/** The elements of XML that are opened and not closed, or closed and not opened. */
function unclosed(xml: string): readonly string[] {
  const open: string[] = [];
  for (const [, end, name = '', self] of xml.matchAll(/<(\/?)([a-z]+)(?:\s+[a-z]+="[^"<]*")*\s*(\/?)>/g)) {
    if (end === '') {
      if (self === '') open.push(name);
    } else if (open.at(-1) === name) open.pop();
    else open.push(`/${name}`);
  }
  const rest = xml.replaceAll(/<\?xml [^?]*\?>|<\/?[a-z]+(?:\s+[a-z]+="[^"<]*")*\s*\/?>/g, '');
  return /[<>]|&(?!(?:amp|lt|gt|quot|apos|#\d+);)/.test(rest) ? [...open, rest.trim()] : open;
}
