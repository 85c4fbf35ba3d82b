import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isAlive } from '../../support/processes.js';
import { until } from '../../support/until.js';
import { fullmcp } from '../support/run-cli.js';
import { folderWith, plainEnv, program, serving } from './support.js';
import { Told } from './told.js';

/** A server with one tool, which says a word. */
function saying(word: string, before = ''): string {
  return `import { createServer, tool } from 'fullmcp';
${before}
export default createServer({ name: 'word', version: '1.0.0', tools: { say: tool({ run: () => ${JSON.stringify(word)} }) } });`;
}

/** A program that tells its number and then loads forever. */
const HANGING = `console.error('hanging as ' + process.pid);
await new Promise(() => setInterval(() => undefined, 1000));`;

interface Developed {
  readonly url: string;
  readonly told: Told;
  readonly say: () => Promise<string>;
  /** Waits for the reload after which the tool says a word. */
  readonly untilSaid: (word: string) => Promise<void>;
}

async function developing(file: string): Promise<Developed> {
  const told = new Told();
  const { url } = await serving(['dev', file, '--port', '0'], told.set);
  const say = async (): Promise<string> => (await fullmcp(['call', url, 'say'])).stdout.trim();
  const untilSaid = async (word: string): Promise<void> => {
    do await told.next(/is reloaded/);
    while ((await say()) !== word);
  };
  return { url, told, say, untilSaid };
}

describe('fullmcp dev under attack', { timeout: 240_000 }, () => {
  it('keeps serving while the file is deleted, and loads the file that is written in its place', async () => {
    const folder = await folderWith({ 'server.mjs': saying('first') });
    const file = join(folder, 'server.mjs');
    const { told, say, untilSaid } = await developing(file);
    await rm(file);
    await told.next(/There is no file[\s\S]*The old code keeps serving/);
    expect(await say()).toBe('first');
    await writeFile(file, saying('second'));
    await untilSaid('second');
  });

  it('says how the process ended during a call, and that the next call starts it again', async () => {
    const ending = saying('x').replace('() => "x"', '() => process.exit(3)');
    const folder = await folderWith({ 'server.mjs': ending });
    const { url, told } = await developing(join(folder, 'server.mjs'));
    expect((await fullmcp(['call', url, 'say'])).exit).not.toBe(0);
    await told.next(/The server ended with exit code 3\. The next call starts it again\.\n/);
    expect(await fullmcp(['list', url])).toMatchObject({ exit: 0, stdout: expect.stringContaining('say') });
  });

  it('takes the next port if the first one is taken, and says so', async () => {
    const taking = createServer().listen(3000, '127.0.0.1');
    onTestFinished(() => void taking.close());
    // If another program has the port, it is taken as well.
    await once(taking, 'listening').catch(() => undefined);
    const folder = await folderWith({ 'server.mjs': saying('x') });
    const told = new Told();
    const { url } = await serving(['dev', join(folder, 'server.mjs')], told.set);
    const { port } = new URL(url);
    await told.next(new RegExp(`Port 3000 is taken, so this is port ${port}\\.\\n`));
  });

  it('loads the second of two saves that follow at once', async () => {
    const folder = await folderWith({ 'server.mjs': saying('first') });
    const file = join(folder, 'server.mjs');
    const { untilSaid } = await developing(file);
    writeFileSync(file, saying('second'));
    writeFileSync(file, saying('third'));
    await untilSaid('third');
  });

  it('lets a call finish in the old code if the file is saved meanwhile', async () => {
    const waiting = new Told();
    let response!: ServerResponse;
    const gate = createServer((_, reply) => {
      response = reply;
      waiting.add('called\n');
    });
    gate.listen(0, '127.0.0.1');
    await once(gate, 'listening');
    onTestFinished(() => void gate.close());
    const at = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`;
    const slow = (word: string): string =>
      saying('x').replace('() => "x"', `async () => (await (await fetch('${at}')).text()) + ' in ${word}'`);
    const folder = await folderWith({ 'server.mjs': slow('old code') });
    const file = join(folder, 'server.mjs');
    const { told, say } = await developing(file);
    const before = say();
    await waiting.next(/called/);
    const first = response;
    await writeFile(file, slow('new code'));
    await told.next(/is reloaded/);
    const after = say();
    await waiting.next(/called/);
    response.end('done');
    expect(await after).toBe('done in new code');
    first.end('done');
    expect(await before).toBe('done in old code');
  });

  it('ends a program that hangs while it is loaded when a newer one is saved, and leaves no process', async () => {
    const folder = await folderWith({ 'server.mjs': saying('first') });
    const file = join(folder, 'server.mjs');
    const { told, say, untilSaid } = await developing(file);
    await writeFile(file, HANGING);
    const [, pid] = await told.next(/hanging as (\d+)/);
    expect(await say()).toBe('first');
    await writeFile(file, saying('second'));
    await untilSaid('second');
    await until('the process that hung is gone', () => !isAlive(Number(pid)));
  });

  it('notices a change of an imported file, of a file in a new folder, and in a folder that was replaced', async () => {
    const folder = await folderWith({
      'src/server.mjs': saying('x', "import { word } from '../lib/word.mjs';").replace('"x"', 'word'),
      'lib/word.mjs': "export const word = 'first';",
    });
    const { told, untilSaid } = await developing(join(folder, 'src/server.mjs'));
    await writeFile(join(folder, 'lib/word.mjs'), "export const word = 'second';");
    await untilSaid('second');
    await rm(join(folder, 'lib'), { recursive: true });
    await told.next(/The old code keeps serving/);
    await mkdir(join(folder, 'lib'));
    await writeFile(join(folder, 'lib/word.mjs'), "export const word = 'third';");
    await untilSaid('third');
    await writeFile(join(folder, 'lib/word.mjs'), "export const word = 'fourth';");
    await untilSaid('fourth');
  });

  it('listens on this computer only, whatever the environment says', async () => {
    const folder = await folderWith({ 'server.mjs': saying('first') });
    vi.stubEnv('MCP_HOST', '127.0.0.2');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { url } = await developing(join(folder, 'server.mjs'));
    expect(new URL(url).hostname).toMatch(/^(?:localhost|127\.0\.0\.1)$/);
  });

  it.each([
    ['http', 'SIGTERM'],
    ['stdio', 'SIGTERM'],
    ['stdio', 'SIGKILL'],
  ] as const)('leaves no process if, over %s, %s comes during a reload', async (over, signal) => {
    const folder = await folderWith({ 'server.mjs': saying('first') });
    const file = join(folder, 'server.mjs');
    const { child, told } = started(['dev', file, ...(over === 'stdio' ? ['--stdio'] : ['--port', '0'])]);
    await told.next(/is loaded/);
    await writeFile(file, HANGING);
    const [, pid] = await told.next(/hanging as (\d+)/);
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    await until('the process that hung is gone', () => !isAlive(Number(pid)));
  });

  it('leaves no process if SIGTERM comes during the first load', async () => {
    const folder = await folderWith({ 'server.mjs': HANGING });
    const { child, told } = started(['dev', join(folder, 'server.mjs'), '--port', '0']);
    const [, pid] = await told.next(/hanging as (\d+)/);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    await until('the process that hung is gone', () => !isAlive(Number(pid)));
  });
});

/** Starts the built program. Its stdin stays open until the test ends. */
function started(words: readonly string[]): { child: ChildProcess; told: Told } {
  const told = new Told();
  const child = spawn(process.execPath, [program, ...words], {
    env: plainEnv as NodeJS.ProcessEnv,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  child.stderr?.on('data', told.add);
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, told };
}
