import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createServer, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { script as everything } from '../../interop/support/everything.js';
import { demoServer } from '../support/demo.js';
import { fullmcp, type Ran } from '../support/run-cli.js';
import { folder, HOSTILE, served, UNSAFE } from './support.js';

const official = fileURLToPath(new URL('../../interop/fixtures/sdk-v2-server.mjs', import.meta.url));
const files = await folder();
const demo = demoServer();
let wiped = 0;

/** A shop, in its first or second version. */
function shop(version: 1 | 2): ReturnType<typeof createServer> {
  const readOnly = { readOnly: true };
  const price = tool({
    description: 'The price of an item',
    annotations: readOnly,
    input: z.object({ item: z.string() }),
    run: ({ item }) =>
      version === 1
        ? { item, price: 2, at: new Date().toISOString(), id: crypto.randomUUID() }
        : { id: crypto.randomUUID(), at: new Date().toISOString(), price: item === 'pear' ? 3 : 2, item },
  });
  const tools = {
    wipe: tool({ run: () => `wiped ${++wiped}` }),
    login: tool({
      annotations: readOnly,
      input: z.object({ password: z.string() }),
      run: ({ password }) => (password === 'open sesame' ? `in with ${password}` : 'out'),
    }),
    hello: tool({
      annotations: readOnly,
      run: async (_, { ask }) => {
        const { name } = await ask('name', { message: 'Name?', schema: z.object({ name: z.string() }) });
        return version === 1 ? `Hello ${name}` : `Hi ${name}`;
      },
    }),
  };
  return createServer({
    name: 'shop',
    version: `${version}.0.0`,
    tools: version === 1 ? { price, ...tools } : { ...tools, price },
  });
}

const before = await served(shop(1));
const after = await served(shop(2));

async function record(target: readonly string[], ...words: readonly string[]): Promise<string> {
  const tape = join(files, `${crypto.randomUUID()}.tape`);
  const ran = await fullmcp(['record', ...target, '-o', tape, '--', ...words]);
  expect(ran.exit, ran.stderr).toBe(0);
  return tape;
}

interface Call {
  readonly method: string;
  readonly name?: string;
  readonly result: string;
  readonly reason?: string;
  readonly differences?: readonly {
    readonly path: string;
    readonly before: unknown;
    readonly after: unknown;
  }[];
}

function toolCall(ran: Ran, name: string): Call | undefined {
  return ran.json<{ calls: Call[] }>().calls.findLast((call) => call.name === name);
}

describe('fullmcp replay', () => {
  it('finds the same in the same server, with fresh ids and times', async () => {
    const tape = await record([before], 'call', 'price', 'item=fig');
    const same = await fullmcp(['replay', tape, before]);
    expect(same).toMatchObject({ exit: 0, stdout: expect.stringContaining('same      tools/call price') });
    expect(same.stderr).toMatch(/^\d+ the same, 0 different, 0 skipped\.$/m);
    // The order of tools and fields, ids and times make no difference.
    expect(await fullmcp(['replay', tape, after, '--json'])).toMatchObject({ exit: 0 });
    const strict = await fullmcp(['replay', tape, after, '--json', '--strict']);
    const paths = toolCall(strict, 'price')?.differences?.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['structuredContent.at', 'structuredContent.id']));
  });

  it('shows what is different, and exits with 1', async () => {
    const tape = await record([before], 'call', 'price', 'item=pear');
    const ran = await fullmcp(['replay', tape, after]);
    expect(ran.exit).toBe(1);
    expect(ran.stdout).toContain('DIFFERENT tools/call price {"item":"pear"}\n');
    expect(ran.stdout).toContain('    ~ structuredContent.price  2 → 3\n');
    expect(ran.stderr).toContain('1 different');
    const json = await fullmcp(['replay', tape, after, '--json']);
    expect(json.json()).toMatchObject({ ok: false, different: 1, skipped: 0 });
    expect(toolCall(json, 'price')?.differences).toContainEqual({
      path: 'structuredContent.price',
      change: 'changed',
      before: 2,
      after: 3,
    });
    const ignored = await fullmcp(['replay', tape, after, '--ignore', 'price']);
    expect(ignored.exit).toBe(0);
  });

  it('calls a tool that may change something only if that is allowed', async () => {
    const tape = await record([before], 'call', 'wipe');
    const count = wiped;
    const skipped = await fullmcp(['replay', tape, before, '--json']);
    expect(skipped.exit).toBe(0);
    expect(toolCall(skipped, 'wipe')).toMatchObject({
      result: 'skipped',
      reason: expect.stringContaining('--allow-effects'),
    });
    expect(wiped).toBe(count);
    const other = await fullmcp(['replay', tape, before, '--allow', 'price', '--json']);
    expect(toolCall(other, 'wipe')?.result).toBe('skipped');
    expect(wiped).toBe(count);
    for (const allow of [['--allow', 'wipe'], ['--allow-effects']]) {
      const sent = await fullmcp(['replay', tape, before, ...allow, '--json']);
      expect(toolCall(sent, 'wipe')?.result).toBe('different');
    }
    expect(wiped).toBe(count + 2);
  });

  it('does not believe new code alone that a tool only reads', async () => {
    const tape = await record([before], 'call', 'wipe');
    let calls = 0;
    const lying = await served(
      createServer({
        name: 'shop',
        version: '3.0.0',
        tools: { wipe: tool({ annotations: { readOnly: true }, run: () => ++calls }) },
      }),
    );
    await fullmcp(['replay', tape, lying]);
    expect(calls).toBe(0);
  });

  it('skips a call whose secret the tape does not have, and takes it from the user', async () => {
    const tape = await record([before], 'call', 'login', 'password=open sesame');
    expect(await readFile(tape, 'utf8')).not.toContain('sesame');
    const without = await fullmcp(['replay', tape, before, '--json']);
    expect(toolCall(without, 'login')).toMatchObject({ result: 'skipped' });
    const right = await fullmcp(['replay', tape, before, '--json', '--secret', 'password=open sesame']);
    expect(toolCall(right, 'login')).toMatchObject({ result: 'same' });
    const wrong = await fullmcp(['replay', tape, before, '--json', '--secret', 'password=open barley']);
    expect(toolCall(wrong, 'login')).toMatchObject({ result: 'different' });
  });

  it('answers questions with the answers of the tape', async () => {
    const tape = await record([before], 'call', 'hello', '--answer', 'name=Ann');
    expect(await fullmcp(['replay', tape, before])).toMatchObject({ exit: 0 });
    const ran = await fullmcp(['replay', tape, after]);
    expect(ran).toMatchObject({ exit: 1, stdout: expect.stringContaining('"Hello Ann" → "Hi Ann"') });
  });

  it('shows the demo what the demo did, except for what is random', async () => {
    const tape = await record([demo.url], 'call', 'roll_dice', 'count=6');
    const all = await fullmcp(['replay', tape, demo.url, '--allow-effects', '--json']);
    expect(toolCall(all, 'roll_dice')?.result).not.toBe('skipped');
    const inspected = await record([demo.url], 'manifest');
    expect(await fullmcp(['replay', inspected, demo.url])).toMatchObject({ exit: 0 });
  });

  it.each([
    { peer: 'server-everything', args: [everything, 'stdio'], words: ['call', 'get-sum', 'a=1', 'b=2'] },
    {
      peer: 'a server of the official SDK v2',
      args: [official, 'stdio'],
      words: ['call', 'weather', 'city=Oslo'],
    },
  ])('replays $peer against itself', async ({ args, words }) => {
    const config = join(files, `${crypto.randomUUID()}.json`);
    await writeFile(config, JSON.stringify({ mcpServers: { peer: { command: process.execPath, args } } }));
    const tape = await record(['peer', '--config', config], ...words);
    const ran = await fullmcp(['replay', tape, '--allow-effects', '--json', '--', process.execPath, ...args]);
    expect(ran.exit, ran.stdout).toBe(0);
    expect(ran.json<{ same: number }>().same).toBeGreaterThan(1);
  });

  it('refuses what is not a tape, a missing target, and a server that is not there', async () => {
    const none = join(files, 'none.tape');
    expect(await fullmcp(['replay', none, before])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('does not exist'),
    });
    await writeFile(none, '{"some":"json"}\n');
    expect(await fullmcp(['replay', none, before])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('is not a tape'),
    });
    const tape = await record([before], 'call', 'price', 'item=fig');
    expect(await fullmcp(['replay', tape])).toMatchObject({ exit: 2 });
    expect(await fullmcp(['replay', tape, 'http://127.0.0.1:1/mcp'])).toMatchObject({ exit: 3 });
  });

  it('shows the text of a hostile server as what it is', async () => {
    const tape = await record([before], 'call', 'price', 'item=fig');
    const hostile = await served(
      createServer({
        name: 'shop',
        version: '3.0.0',
        tools: {
          price: tool({
            annotations: { readOnly: true },
            input: { type: 'object' },
            run: () => ({ [HOSTILE]: HOSTILE }),
          }),
        },
      }),
    );
    const ran = await fullmcp(['replay', tape, hostile]);
    expect(ran.exit).toBe(1);
    for (const character of UNSAFE) expect(ran.stdout + ran.stderr).not.toContain(character);
  });
});
