import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createServer, McpError, ToolError, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { replay } from 'fullmcp/testing';
import { describe, expect, it } from 'vitest';
import { script as everything } from '../../interop/support/everything.js';
import { demoServer } from '../support/demo.js';
import { fullmcp } from '../support/run-cli.js';
import { folder, served } from './support.js';

const program = fileURLToPath(new URL('../../../dist/cli/fullmcp.js', import.meta.url));
const official = fileURLToPath(new URL('../../interop/fixtures/sdk-v2-server.mjs', import.meta.url));
const files = await folder();
const demo = demoServer();
let tapes = 0;

function newTape(): string {
  return join(files, `${++tapes}.tape`);
}

interface Line {
  readonly call?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string };
}

async function linesOf(tape: string): Promise<readonly Line[]> {
  const text = await readFile(tape, 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

/** Every secret begins with this, so that none can be missed in a tape. */
const PLANTED = 'PLANTED';
const planted = (name: string): string => `${PLANTED}-${name}-Xy7!`;

const safe = await served(
  createServer({
    name: 'safe',
    version: '1.0.0',
    tools: {
      echo: tool({
        input: {
          type: 'object',
          properties: {
            password: { type: 'string', default: planted('default') },
            code: { type: 'string', format: 'password' },
            seed: { type: 'string', 'x-secret': true },
            anything: {},
          },
        },
        output: { type: 'object' },
        run: (input, { request, progress, log }) => {
          const seen = `${JSON.stringify(input)} ${Object.values(input).join(' ')} ${request?.header('authorization')} ${request?.header('x-key')}`;
          progress(1, 2, `Working with ${seen}`);
          log.info(seen);
          return {
            content: [{ type: 'text', text: seen }],
            structuredContent: {
              input,
              session_token: planted('issued'),
              said: `It is ${planted('issued')}.`,
            },
            _meta: { 'example.com/access-token': planted('meta'), 'example.com/note': planted('meta') },
          };
        },
      }),
      refuse: tool({
        input: { type: 'object', properties: { password: { type: 'string' } } },
        run: ({ password }) => {
          throw new ToolError(`${String(password)} is wrong`);
        },
      }),
      break: tool({
        input: { type: 'object', properties: { api_key: { type: 'string' } } },
        run: ({ api_key }) => {
          throw new McpError('invalid_params', `The key ${String(api_key)} is gone`, {
            data: { was: api_key },
          });
        },
      }),
      ask: tool({
        run: async (_input, { ask }) => {
          const schema = {
            type: 'object',
            properties: { passcode: { type: 'string' } },
            required: ['passcode'],
          };
          const { passcode } = (await ask('who', { message: 'Who are you?', schema })) as {
            passcode: string;
          };
          return `Hello ${passcode}`;
        },
      }),
    },
  }),
);

describe('fullmcp record with a command', () => {
  it('prints the answer of the command, and leaves a tape that the testing kit replays', async () => {
    const tape = newTape();
    const ran = await fullmcp(['record', demo.url, '-o', tape, '--', 'call', 'add', 'a=2', 'b=40']);
    expect(ran).toMatchObject({ exit: 0, stdout: '42\n' });
    expect(ran.stderr).toMatch(/^1 call and \d other requests? in /m);
    await using client = await connect(replay(await readFile(tape, 'utf8')));
    expect((await client.callTool('add', { a: 2, b: 40 })).text).toBe('42');
    expect((await stat(tape)).mode & 0o077).toBe(0);
  });

  it('has the JSON and the exit code of the command', async () => {
    const call = ['--', 'call', 'find_order', 'id=9'];
    expect(await fullmcp(['record', demo.url, '-o', newTape(), ...call])).toMatchObject({
      exit: 1,
      stdout: '',
    });
    const ran = await fullmcp(['record', demo.url, '--json', '-o', newTape(), ...call]);
    expect(ran.json()).toMatchObject({ ok: false, error: { kind: 'failed' } });
    const wrong = await fullmcp(['record', demo.url, '-o', newTape(), '--', 'cal', 'add']);
    expect(wrong).toMatchObject({ exit: 2, stderr: expect.stringContaining('Did you mean "call') });
  });

  it.each([
    { peer: 'server-everything', command: `${everything} stdio`, call: ['echo', 'message=hi'], says: 'hi' },
    {
      peer: 'a server of the official SDK v2',
      command: `${official} stdio`,
      call: ['weather', 'city=Oslo'],
      says: 'Oslo',
    },
  ])('records $peer, which a config names', async ({ command, call, says }) => {
    const config = join(files, `${++tapes}.json`);
    const peer = { command: process.execPath, args: command.split(' ') };
    await writeFile(config, JSON.stringify({ mcpServers: { peer } }));
    const tape = newTape();
    const ran = await fullmcp(['record', 'peer', '--config', config, '-o', tape, '--', 'call', ...call]);
    expect(ran).toMatchObject({ exit: 0, stdout: expect.stringContaining(says) });
    const recorded = await linesOf(tape);
    expect(recorded.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
    await using client = await connect(replay(await readFile(tape, 'utf8')));
    const [name = '', argument = ''] = call;
    const [key = '', value] = argument.split('=');
    expect((await client.callTool(name, { [key]: value })).text).toContain(says);
  });
});

describe('a tape', () => {
  it('has no secret: not of the connection, of arguments, results, errors, forms, notifications or metadata', async () => {
    const own = [
      ...['--token', planted('token'), '--header', `X-Key: ${planted('header')}`],
      ...['--header', `Cookie: a=1; sid=${planted('cookie')}`],
    ];
    const url = `${safe}?tenant=${encodeURIComponent(planted('query'))}`;
    const everywhere = JSON.stringify({
      password: planted('password'),
      code: planted('marked'),
      seed: planted('seed'),
      anything: {
        headers: [{ name: 'Authorization', value: `Bearer ${planted('listed')}` }],
        pairs: [['X-Api-Key', planted('pair')]],
        text: `Set-Cookie: a=1; b=${planted('set-cookie')}\npassword=${planted('inline')} of ${planted('query')} and ${planted('header')} ${planted('cookie')}`,
        json: JSON.stringify({ refresh_token: planted('json') }),
        uri: `https://ann:${planted('userinfo')}@example.com/?api_key=${planted('param')}`,
        again: planted('password'),
        sentence: `I typed ${planted('seed')} and ${encodeURIComponent(planted('password'))}`,
      },
    });
    const lines = [
      { words: ['call', 'echo', everywhere, '--log', 'debug'], exit: 0 },
      { words: ['call', 'refuse', `password=${planted('refused')}`], exit: 1 },
      { words: ['call', 'break', `api_key=${planted('broken')}`], exit: 4 },
      { words: ['call', 'ask', '--answer', `passcode=${planted('answer')}`], exit: 0 },
      { words: ['manifest'], exit: 0 },
    ];
    for (const { words, exit } of lines) {
      const tape = newTape();
      const ran = await fullmcp(['record', url, ...own, '-o', tape, '--', ...words]);
      expect(ran.exit, ran.stderr).toBe(exit);
      // They did pass.
      expect(words[0] === 'call' ? ran.stdout + ran.stderr : PLANTED).toContain(PLANTED);
      const bytes = await readFile(tape, 'latin1');
      expect(bytes.match(/.{0,80}PLANTED.{0,40}/)?.[0]).toBeUndefined();
      if (words[0] === 'call') expect(bytes).toMatch(/\*\*\*/);
      expect(() => replay(bytes)).not.toThrow();
    }
  });

  it('keeps the schema of a secret field, but none of its values', async () => {
    const tape = newTape();
    await fullmcp(['record', safe, '-o', tape, '--', 'list']);
    const text = await readFile(tape, 'utf8');
    expect(text).toContain('"password":{"type":"string"}');
    expect(text).toContain('"code":{"type":"string","format":"password"}');
  });

  it('is not overwritten, and is not begun if its folder does not exist', async () => {
    const tape = newTape();
    await writeFile(tape, 'precious');
    const again = await fullmcp(['record', demo.url, '-o', tape, '--', 'list']);
    expect(again).toMatchObject({ exit: 2, stderr: expect.stringContaining('--force') });
    expect(await readFile(tape, 'utf8')).toBe('precious');
    expect(await fullmcp(['record', demo.url, '-o', tape, '--force', '--', 'list'])).toMatchObject({
      exit: 0,
    });
    const nowhere = await fullmcp(['record', demo.url, '-o', join(files, 'no', 'where.tape'), '--', 'list']);
    expect(nowhere.exit).toBe(2);
    expect((await fullmcp(['record', demo.url, '--', 'list'])).stderr).toContain('-o');
  });

  it.runIf(process.platform === 'linux')(
    'that does not fit on the disk does not stop the traffic',
    async () => {
      const ran = await fullmcp([
        'record',
        demo.url,
        '-o',
        '/dev/full',
        '--force',
        '--',
        'call',
        'add',
        'a=1',
        'b=2',
      ]);
      expect(ran).toMatchObject({ exit: 1, stdout: '3\n' });
      expect(ran.stderr.match(/cannot be written/g)).toHaveLength(1);
    },
  );
});

describe('fullmcp record as a server', () => {
  it('serves on stdin and stdout; without a target before it, -- begins the command of the server', async () => {
    const tape = newTape();
    {
      await using client = await connect({
        command: process.execPath,
        args: [program, 'record', '-o', tape, '--', process.execPath, everything, 'stdio'],
      });
      expect((await client.callTool('echo', { message: 'hi' })).text).toContain('hi');
    }
    expect((await linesOf(tape)).map(({ params }) => params?.name)).toContain('echo');
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('leaves a tape that can be read after %s', async (signal) => {
    const tape = newTape();
    const child = spawn(process.execPath, [program, 'record', demo.url, '-o', tape, '--http', '--json']);
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { url } = JSON.parse(String(line)) as { url: string };
    const client = await connect(url, { reconnect: false });
    const pending: Promise<unknown>[] = [];
    const started = new Promise<void>((resolve) => {
      const options = { onProgress: () => resolve() };
      pending.push(client.callTool('countdown', { from: 60 }, options).catch(() => undefined));
    });
    await started;
    await client.callTool('add', { a: 1, b: 2 });
    child.kill(signal);
    await once(child, 'exit');
    await client.close();
    await Promise.all(pending);
    const calls = (await linesOf(tape)).filter(({ method }) => method === 'tools/call');
    expect(calls.map(({ params }) => params?.name).sort()).toEqual(['add', 'countdown']);
    await using replayed = await connect(replay(await readFile(tape, 'utf8')));
    expect((await replayed.callTool('add', { a: 1, b: 2 })).text).toBe('3');
  });

  it('refuses options that do not fit together', async () => {
    expect(await fullmcp(['record', demo.url, '-o', newTape(), '--json'])).toMatchObject({ exit: 2 });
    expect(await fullmcp(['record', demo.url, '-o', newTape(), '--port', '1'])).toMatchObject({ exit: 2 });
    const both = await fullmcp(['record', demo.url, '-o', newTape(), '--http', '--', 'list']);
    expect(both).toMatchObject({ exit: 2 });
  });
});

it('a tape whose last line was cut off is replayed without that line', async () => {
  const tape = newTape();
  await fullmcp(['record', demo.url, '-o', tape, '--', 'call', 'add', 'a=1', 'b=2']);
  const text = await readFile(tape, 'utf8');
  await using client = await connect(replay(`${text}{"call":99,"at":5,"outcome":{"resul`));
  expect((await client.callTool('add', { a: 1, b: 2 })).text).toBe('3');
});
