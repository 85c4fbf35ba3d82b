import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { folderWith } from '../project/support.js';
import { fullmcp, type Ran } from '../support/run-cli.js';
import { served } from './support.js';

// Attacks with a file of requests that came with somebody else's project.

const SECRET = 'open-sesame-4711';
const VARIABLE = '$\u007bSHOP_KEY}';

/** A value that is nested in itself. */
const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });

const shop = await served(
  createServer({
    name: 'shop',
    version: '1.0.0',
    tools: {
      echo: tool({ input: z.object({ text: z.string() }), run: ({ text }) => text }),
      nest: tool({ input: z.object({ levels: z.int() }), run: ({ levels }) => nested(levels) }),
      encode: tool({
        input: z.object({ key: z.string() }),
        run: ({ key }) => `${encodeURIComponent(key)}, ${JSON.stringify({ key })} and Basic ${key}:x`,
      }),
    },
  }),
);

/** Runs requests that are in the file of a folder with these other files. */
async function run(
  content: object,
  words: readonly string[] = [],
  files: Readonly<Record<string, string>> = {},
): Promise<Ran & { readonly folder: string }> {
  const folder = await folderWith({
    ...files,
    'mcp.requests.json': JSON.stringify({ version: 1, ...content }),
  });
  const target = 'target' in content ? [] : [shop];
  const path = join(folder, 'mcp.requests.json');
  return { ...(await fullmcp(['test', ...target, '--file', path, ...words])), folder };
}

const SERVER = `import { createServer } from 'fullmcp';
console.error('the server ran');
export default createServer({ name: 'x', version: '1.0.0' });
`;

describe('a hostile mcp.requests.json', () => {
  it('cannot start a file outside of its folder through a link to a folder', async () => {
    const outside = await folderWith({ 'server.mjs': SERVER });
    const folder = await folderWith({
      'mcp.requests.json': JSON.stringify({ version: 1, target: 'src/server.mjs', requests: [] }),
    });
    await symlink(outside, join(folder, 'src'), 'junction');
    const { exit, stderr } = await fullmcp(['test', '--file', join(folder, 'mcp.requests.json')]);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('leads out of its folder')]);
    expect(stderr).not.toContain('the server ran');
  });

  it('starts a file that a link in its folder leads to, and is found through a link itself', async () => {
    const folder = await folderWith({
      'real/server.mjs': SERVER,
      'real/mcp.requests.json': JSON.stringify({ version: 1, target: 'src/server.mjs', requests: [] }),
    });
    await symlink(join(folder, 'real'), join(folder, 'real/src'), 'junction');
    await symlink(join(folder, 'real'), join(folder, 'linked'), 'junction');
    const { exit, stderr } = await fullmcp(['test', '--file', join(folder, 'linked/mcp.requests.json')]);
    expect([exit, stderr]).toEqual([0, expect.stringContaining('0 passed, 0 failed.')]);
  });

  it('makes the command fetch nothing, whatever its schemas refer to', async () => {
    const fetched: string[] = [];
    const other = createHttpServer((req, res) => {
      fetched.push(req.url ?? '');
      res.end('{}');
    });
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void other.close());
    const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}/schema.json`;
    for (const matches of [{ $ref: address }, { $ref: 'file:///etc/passwd' }, { $schema: address }]) {
      const ran = await run({
        $schema: address,
        requests: [{ name: 'a', tool: 'echo', expect: { matches } }],
      });
      expect(ran.exit, ran.stdout + ran.stderr).toBeGreaterThan(0);
    }
    expect(fetched).toEqual([]);
  });

  it.each([
    [
      'definitions that mention the next one twice',
      Object.fromEntries(
        Array.from({ length: 40 }, (_, at) => [
          `d${at}`,
          { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
        ]).concat([['d40', {}]] as never),
      ),
      { $ref: '#/$defs/d0' },
    ],
    [
      'a definition that mentions itself twice in each field',
      { n: { properties: { a: { allOf: [{ $ref: '#/$defs/n' }, { $ref: '#/$defs/n' }] } } } },
      { $ref: '#/$defs/n' },
    ],
  ])('does not make the command compute without end with %s', async (_, $defs, root) => {
    const requests = [
      { name: 'a', tool: 'nest', arguments: { levels: 60 }, expect: { matches: { ...root, $defs } } },
    ];
    const ran = await run({ requests });
    expect(ran.exit).toBeGreaterThan(0);
    expect(ran.stdout + ran.stderr).toMatch(
      /"matches" is not a schema that can be checked|does not match the schema: /,
    );
  });

  it('makes no JUnit file that a CI service cannot read, whatever a request is called', async () => {
    const names = ['a ]]> b', '<!-- \u0000 -->', '\ud800', '&#0;', '\ufffe', '"><failure/>'];
    const requests = names.map((name) => ({
      name,
      tool: 'echo',
      arguments: { text: `${name}\u0001` },
      expect: { equal: name },
    }));
    const junit = join(await folderWith({}), 'report.xml');
    const ran = await run({ requests }, ['--junit', junit]);
    expect(ran.exit).toBe(1);
    const xml = await readFile(junit, 'utf8');
    // Everything that XML 1.0 allows.
    expect(xml).toMatch(/^[\t\n\r\u0020-\ud7ff\ue000-\ufffd]*$/);
    expect(xml.match(/<testcase /g)).toHaveLength(names.length);
    expect(xml.match(/<failure /g)).toHaveLength(names.length);
    expect(xml).not.toMatch(/]]>|<!--|&#0;/);
  });

  it('does not make the command print a variable that the server sends back in another form', async () => {
    vi.stubEnv('SHOP_KEY', `${SECRET}/?&="`);
    const { SHOP_KEY: key = '' } = process.env;
    const requests = [
      { name: 'a', tool: 'encode', arguments: { key: VARIABLE }, expect: { equal: 'something else' } },
    ];
    const forms = [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)];
    for (const words of [[], ['--json'], ['--update']]) {
      const ran = await run({ env: ['SHOP_KEY'], requests }, words);
      const written = await readFile(join(ran.folder, 'mcp.requests.json'), 'utf8');
      for (const form of forms) expect(ran.stdout + ran.stderr + written).not.toContain(form);
    }
  });

  it('cannot have its lock be a link to a file of the user', async () => {
    const requests = [{ name: 'a', tool: 'echo', arguments: { text: 'new' }, expect: { equal: 'old' } }];
    const folder = await folderWith({
      'project/mcp.requests.json': JSON.stringify({ version: 1, requests }),
      'own.txt': 'my own words',
    });
    await mkdir(join(folder, 'elsewhere'));
    await symlink(join(folder, 'own.txt'), join(folder, 'project/mcp.requests.json.part'));
    await writeFile(join(folder, 'own.txt'), 'my own words');
    await fullmcp(['test', shop, '--file', join(folder, 'project/mcp.requests.json'), '--update']);
    expect(await readFile(join(folder, 'own.txt'), 'utf8')).toBe('my own words');
  });
});
