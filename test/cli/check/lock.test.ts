import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { bearer } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { gateway } from 'fullmcp/gateway';
import { serve } from 'fullmcp/node';
import { describe, expect, it, vi } from 'vitest';
import { ownDemo } from '../../support/examples/demo.js';
import { fullmcp } from '../support/run-cli.js';
import { folder, HOSTILE, served, UNSAFE } from './support.js';

const demo = await ownDemo();

const files = await folder();
const shop = (
  descriptions: Readonly<Record<string, string>>,
  instructions = 'Be kind.',
): ReturnType<typeof createServer> =>
  createServer({
    name: 'shop',
    version: '1.0.0',
    instructions,
    logger: () => undefined,
    tools: Object.fromEntries(
      Object.entries(descriptions).map(([name, description]) => [
        name,
        tool({ description, run: () => name }),
      ]),
    ),
  });

const same = await served(shop({ buy: 'Buys', sell: 'Sells' }));
const other = await served(shop({ buy: 'Buys everything', trade: 'Sells' }, 'Be quick.'));
const swapped = await served(shop({ buy: 'Sells', sell: 'Buys' }));

describe('fullmcp lock', () => {
  it('pin a server, and find nothing while it is the same', async () => {
    const file = join(files, 'same.lock.json');
    expect(await fullmcp(['lock', `shop=${same}`, '--lock', file])).toMatchObject({
      exit: 0,
      stdout: '+ shop server shop  added\n',
      stderr: `1 server is pinned in ${file}.\n`,
    });
    expect(await fullmcp(['lock', '--check', `shop=${same}`, '--lock', file])).toMatchObject({
      exit: 0,
      stdout: '',
      stderr: `1 server matches ${file}.\n`,
    });
    const { json } = await fullmcp(['lock', '--check', same, '--lock', file, '--json']);
    expect(json()).toEqual({ ok: true, file, servers: ['shop'], changes: [] });
  });

  it('exit with 1 and every change', async () => {
    const file = join(files, 'other.lock.json');
    await fullmcp(['lock', `shop=${same}`, '--lock', file]);
    const text = await readFile(file, 'utf8');
    const { exit, json } = await fullmcp(['lock', '--check', `shop=${other}`, '--lock', file, '--json']);
    expect(exit).toBe(1);
    expect(json()).toEqual({
      ok: false,
      file,
      servers: ['shop'],
      changes: [
        { server: 'shop', kind: 'server', name: 'instructions', change: 'changed' },
        { server: 'shop', kind: 'tool', name: 'trade', change: 'renamed', was: 'sell' },
        { server: 'shop', kind: 'tool', name: 'buy', change: 'changed' },
      ],
    });
    expect(await readFile(file, 'utf8')).toBe(text);
    const turned = await fullmcp(['lock', '--check', `shop=${swapped}`, '--lock', file]);
    expect(turned.exit).toBe(1);
    expect(turned.stdout).toContain('~ shop tool buy  swapped (before: sell)\n');
    await fullmcp(['lock', `shop=${other}`, '--lock', file]);
    expect((await fullmcp(['lock', '--check', `shop=${other}`, '--lock', file])).exit).toBe(0);
  });

  it('pin every server of a config, and report one that is not pinned', async () => {
    const config = join(files, 'mcp.json');
    const file = join(files, 'config.lock.json');
    await writeFile(config, JSON.stringify({ mcpServers: { one: { url: same }, two: { url: other } } }));
    expect((await fullmcp(['lock', config, '--lock', file, '--json'])).json()).toMatchObject({
      servers: ['one', 'two'],
    });
    expect((await fullmcp(['lock', '--check', config, '--lock', file])).exit).toBe(0);
    expect((await fullmcp(['lock', '--check', 'two', '--config', config, '--lock', file])).exit).toBe(0);
    expect(await fullmcp(['lock', '--check', `three=${same}`, '--lock', file])).toMatchObject({
      exit: 1,
      stdout: '+ three server three  added\n',
    });
  });

  it('write the lock file that a gateway reads: it holds nothing back', async () => {
    await using running = await serve(demo, { port: 0 });
    const file = join(files, 'gateway.lock.json');
    await fullmcp(['lock', `demo=${running.url}`, '--lock', file]);
    const written = await readFile(file, 'utf8');
    const changes: unknown[] = [];
    await using hub = gateway(
      { mcpServers: { demo: { url: running.url } } },
      {
        pins: { file, newServers: 'quarantine', onChange: (change) => changes.push(change) },
        logger: () => undefined,
      },
    );
    await using client = await connect(hub);
    const names = (await client.tools().all()).map(({ name }) => name);
    expect(names).toContain('demo_add');
    expect((await client.resources().all()).length).toBeGreaterThan(0);
    expect((await client.prompts().all()).length).toBeGreaterThan(0);
    expect(changes).toEqual([]);
    expect(await readFile(file, 'utf8')).toBe(written);
  });

  it('check the servers that a lock file names by their URL, without naming them again', async () => {
    const file = join(files, 'named.lock.json');
    await fullmcp(['lock', `shop=${same}`, '--lock', file]);
    expect(JSON.parse(await readFile(file, 'utf8')).servers.shop.target).toBe(same);
    expect((await fullmcp(['lock', '--check', '--lock', file, '--json'])).json()).toEqual({
      ...{ ok: true, file, servers: ['shop'], changes: [] },
    });
    await using hub = gateway(
      { mcpServers: { shop: { url: other } } },
      { pins: { file }, logger: () => undefined },
    );
    await using client = await connect(hub);
    await client.tools().all();
    await hub.accept('shop');
    const accepted = JSON.parse(await readFile(file, 'utf8'));
    expect(accepted.servers.shop.target).toBe(same);
    expect((await fullmcp(['lock', '--check', '--lock', file])).exit).toBe(1);
  });

  it('keep no URL with a query or credentials, and say which servers were not checked', async () => {
    const file = join(files, 'secret.lock.json');
    await fullmcp(['lock', `secret=${same}?key=planted`, '--lock', file]);
    expect(await readFile(file, 'utf8')).not.toContain('planted');
    expect(await fullmcp(['lock', '--check', '--lock', file])).toMatchObject({
      exit: 2,
      stderr: 'Nothing says where the pinned servers are. Name it as name=target: secret.\n',
    });
    await fullmcp(['lock', `shop=${same}`, '--lock', file]);
    expect(await fullmcp(['lock', '--check', '--lock', file])).toMatchObject({
      exit: 0,
      stderr: `Not checked, because nothing says where these servers are. Name it as name=target: secret.\n1 server matches ${file}.\n`,
    });
  });

  it('send no token of the environment to an address of a lock file, which anybody may have written', async () => {
    const seen: string[] = [];
    const auth = bearer((token) => {
      seen.push(token);
      return { subject: 'ada' };
    });
    const serving = await serve(shop({ buy: 'Buys' }), { port: 0, signals: false, auth });
    const file = join(files, 'token.lock.json');
    vi.stubEnv('MCP_TOKEN', 'from-environment');
    try {
      await fullmcp(['lock', `shop=${serving.url}`, '--lock', file]);
      expect(new Set(seen.splice(0))).toEqual(new Set(['from-environment']));
      const refused = await fullmcp(['lock', '--check', '--lock', file]);
      expect(refused.exit).toBe(6);
      expect(refused.stderr).toContain('Pass a token with --token, or a key with');
      expect(seen).toEqual([]);
      expect((await fullmcp(['lock', '--check', '--lock', file, '--token', 'typed'])).exit).toBe(0);
    } finally {
      vi.unstubAllEnvs();
      await serving.close();
    }
  });

  it('refuse a target of a lock file that is not one', async () => {
    const file = join(files, 'changed.lock.json');
    for (const [target, says] of [
      [5, 'servers.shop.target must be a URL or a file'],
      ['./x.txt', 'is not a target'],
      ['--help', 'No server is called "--help"'],
    ]) {
      await writeFile(file, JSON.stringify({ version: 1, servers: { shop: { target } } }));
      const { exit, stderr } = await fullmcp(['lock', '--check', '--lock', file]);
      expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(says as string) });
    }
  });

  it('refuse a lock file that is missing or damaged, and a server that cannot be reached', async () => {
    const missing = await fullmcp(['lock', '--check', same, '--lock', join(files, 'none.json')]);
    expect(missing).toMatchObject({ exit: 2, stdout: '' });
    expect(missing.stderr).toContain('Make it with: fullmcp lock');
    const file = join(files, 'damaged.json');
    await writeFile(file, '{"version":1,"servers":[]}');
    expect((await fullmcp(['lock', '--check', same, '--lock', file])).exit).toBe(2);
    expect((await fullmcp(['lock', same, '--lock', file])).exit).toBe(2);
    expect((await fullmcp(['lock', 'http://127.0.0.1:1/mcp', '--lock', join(files, 'new.json')])).exit).toBe(
      3,
    );
  });

  it('show nothing of a server that controls the terminal', async () => {
    const file = join(files, 'hostile.lock.json');
    const evil = await served(shop({ evil: HOSTILE }, HOSTILE));
    await fullmcp(['lock', `shop=${evil}`, '--lock', file]);
    const lock = JSON.parse(await readFile(file, 'utf8'));
    lock.servers.shop.tools = { [HOSTILE]: lock.servers.shop.tools.evil, '--help': 'x', '; rm -rf /': 'y' };
    await writeFile(file, JSON.stringify(lock));
    for (const more of [[], ['--json']]) {
      const { exit, stdout, stderr } = await fullmcp([
        'lock',
        '--check',
        `shop=${evil}`,
        '--lock',
        file,
        ...more,
      ]);
      expect(exit).toBe(1);
      for (const unsafe of UNSAFE) expect(stdout + stderr).not.toContain(unsafe);
    }
  });
});
