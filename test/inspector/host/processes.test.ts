import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../src/client.js';
import { folderWith, plainEnv, program } from '../../cli/project/support.js';
import { Told } from '../../cli/project/told.js';
import { until } from '../../support/until.js';
import { visit } from './support/browser.js';

// The command as a process of its own, which a user or a host starts and ends.

const SERVER = `
import { createServer, tool } from 'fullmcp';
import { z } from 'zod';
console.error('server as ' + process.pid);
export default createServer({
  name: 'small',
  version: '1.0.0',
  tools: {
    twice: tool({
      description: 'Twice a number.',
      input: z.object({ n: z.number() }),
      run: ({ n }, { step }) => step('double', async () => n * 2),
    }),
  },
});
`;

interface Snapshot {
  readonly connections: readonly { id: string; status: string; address: string; seesJournal: boolean }[];
  readonly stories: readonly { title: string; journal?: { rows: readonly { key: string }[] } }[];
  readonly logs?: readonly { text: string }[];
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Starts the built program, and collects what it writes. */
function started(words: readonly string[], home: string): { child: ChildProcess; told: Told } {
  const told = new Told();
  const child = spawn(process.execPath, [program, ...words], {
    env: { ...plainEnv, FULLMCP_HOME: home, CI: 'true' } as NodeJS.ProcessEnv,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdout?.on('data', told.add);
  child.stderr?.on('data', told.add);
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, told };
}

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/[\w-]{11}\/\?token=[^\s"]+/;

describe('the inspector of a process', { timeout: 120_000 }, () => {
  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
    'closes the server that it started, and ends, on %s',
    async (signal) => {
      const folder = await folderWith({ 'server.mjs': SERVER });
      const { child, told } = started(['inspect', '--no-open', join(folder, 'server.mjs')], folder);
      const [address] = await told.next(ADDRESS);
      const user = await visit(address);
      let pid = 0;
      await until('the server has started', async () => {
        const { logs = [] } = (await user.get('api/snapshot')).json<Snapshot>();
        pid = Number(/server as (\d+)/.exec(logs.map(({ text }) => text).join('\n'))?.[1] ?? 0);
        return pid > 0;
      });
      expect(isAlive(pid)).toBe(true);
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
      await until('the server is gone', () => !isAlive(pid));
      await expect(user.get('')).rejects.toThrow('ECONNREFUSED');
    },
  );

  it('runs beside `dev --stdio`: the host is served, and the page has a connection of its own to the same code', async () => {
    const folder = await folderWith({ 'server.mjs': SERVER });
    const told = new Told();
    const env = { FULLMCP_HOME: folder, NODE_OPTIONS: '' };
    const args = [program, 'dev', join(folder, 'server.mjs'), '--stdio'];
    await using host = await connect(
      { command: process.execPath, args, env },
      { stderr: (line: string) => told.add(`${line}\n`) },
    );
    expect((await host.callTool('twice', { n: 21 })).text).toBe('42');
    const [, address = ''] = await told.next(/Inspector: (\S+)/);
    const user = await visit(address);
    const seen = async (): Promise<Snapshot> => (await user.get('api/snapshot')).json<Snapshot>();
    await until('it is connected', async () => (await seen()).connections[0]?.status === 'ready');
    const { connections } = await seen();
    expect(connections).toMatchObject([{ address: join(folder, 'server.mjs'), seesJournal: true }]);
    await user.post('api/run/call', { connection: connections[0]?.id, tool: 'twice', args: { n: 4 } });
    await until('the steps of the call are reported', async () =>
      (await seen()).stories.some(
        ({ title, journal }) => title === 'twice' && journal?.rows[0]?.key === 'double',
      ),
    );
    expect((await host.callTool('twice', { n: 3 })).text).toBe('6');
    await host.close();
    await until('the inspector ends with its host', () =>
      user.get('').then(
        () => false,
        () => true,
      ),
    );
  });
});
