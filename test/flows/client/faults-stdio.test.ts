import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { type Client, type ConnectOptions, connect, type ServerProcess } from '../../../src/client.js';
import { cleanup, failure, statuses } from '../../support/faults.js';
import { leaveNothingBehind, pidFile } from '../../support/leaks.js';
import { isAlive } from '../../support/processes.js';
import { soon, until } from '../../support/until.js';

// Failures of a server process, and how the client reports them.

const script = fileURLToPath(new URL('../fixtures/faulty-stdio.mjs', import.meta.url));
leaveNothingBehind();
const { closeLater, closeAll } = cleanup();
afterEach(closeAll);

function target(...args: string[]): ServerProcess {
  const env = { PIDS: pidFile(), NOTES: `${pidFile()}.notes` };
  return { command: process.execPath, args: [script, ...args], env };
}

/** The messages that the server's processes received, in order. */
function notes(): string[] {
  const file = `${pidFile()}.notes`;
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

function pids(): number[] {
  return readFileSync(pidFile(), 'utf8').trim().split('\n').map(Number);
}

async function start(options: ConnectOptions = {}, ...args: string[]): Promise<Client> {
  return closeLater(await connect(target(...args), { reconnect: { baseMs: 10, maxMs: 50 }, ...options }));
}

describe('starting a server process', () => {
  test('fails with the reason if the command does not exist', async () => {
    const error = await failure(connect({ command: 'no-such-mcp-server', args: ['--port', '1'] }));
    expect(error.code).toBe('connect_failed');
    expect(error.message).toContain('no-such-mcp-server');
    expect(error.message).toMatch(/not found|does not exist|no such/i);
  });

  test('fails with the exit code and the last output if the process exits at once', async () => {
    const error = await failure(connect(target('exits')));
    expect(error.code).toBe('connection_closed');
    expect(error.message).toContain(process.execPath);
    expect(error.message).toContain('exit code 3');
    expect(error.message).toContain('Error: DATABASE_URL is not set');
  });

  test('times out if the process sends nothing, and ends the process', async () => {
    const error = await failure(connect(target('silent'), { connectTimeoutMs: 1500, probeTimeoutMs: 100 }));
    expect(error.code).toBe('timeout');
    expect(error.message).toContain('1500 ms');
  });
});

describe('a server process that dies', () => {
  test.each([
    ['die', /exit code 7.*Cannot allocate memory/s],
    ['die by signal', /SIGKILL/],
    ['die in a message', /exit code 0/],
    ['close its output', /closed its standard output/],
  ])('during a call (%s) fails that call, and the next call works in a new process', async (tool, why) => {
    const client = await start();
    const first = (await client.callTool('pid')).text;
    const error = await failure(client.callTool(tool));
    expect(error.code).toBe('connection_closed');
    expect(error.message).toContain(process.execPath);
    expect(error.message).toMatch(why);
    const second = (await client.callTool('pid')).text;
    expect(second).not.toBe(first);
    expect(client.status).toBe('ready');
    expect(client.info().reconnects).toBe(1);
    await until('the first process is gone', () => !isAlive(Number(first)));
  });

  test('right after a response still has that response delivered, and is restarted', async () => {
    const client = await start();
    const history = statuses(client);
    expect((await client.callTool('answer and die')).text).toBe('my last words');
    await until('the client is ready again', () => history().at(-1) === 'ready');
    expect(history()).toEqual(['reconnecting', 'ready']);
    expect((await client.callTool('echo', { text: 'again' })).text).toBe('again');
  });

  test('makes the client retry a call that is safe to repeat', async () => {
    const client = await start();
    const death = failure(client.callTool('die'));
    const tools = client.tools().all();
    expect((await death).code).toBe('connection_closed');
    expect((await tools).map(({ name }) => name)).toEqual(['echo']);
  });

  test("gets the client's subscription again in the next process, and the resource is reported as changed", async () => {
    const client = await start();
    const changes: unknown[] = [];
    await client.subscribe('note://1', { onChange: (change) => changes.push(change) });
    await failure(client.callTool('die'));
    const listens = (): number => notes().filter((method) => method === 'subscriptions/listen').length;
    await until('the client has subscribed again', () => listens() === 2);
    // The client cannot know of changes in the meantime, so it reports everything as changed.
    await until('a change is reported', () => changes.length > 0);
    expect(changes).toEqual([{ kind: 'resource', uri: 'note://1' }]);
  });

  test('closes a client with `reconnect: false`, and further calls fail because it is closed', async () => {
    const client = await start({ reconnect: false });
    const history = statuses(client);
    await failure(client.callTool('die'));
    expect(client.status).toBe('closed');
    expect(history()).toEqual(['closed']);
    const error = await failure(client.callTool('echo'));
    expect(error.code).toBe('connection_closed');
    expect(error.message).toBe('The client is closed');
  });

  test('again at each restart makes the client give up after `maxAttempts` and report why', async () => {
    const client = await start(
      { reconnect: { baseMs: 5, maxMs: 10, maxAttempts: 2 } },
      'exits-later',
      `${pidFile()}.lived`,
    );
    const reasons: (string | undefined)[] = [];
    client.on('status', ({ status, reason }) => {
      if (status === 'closed') reasons.push(reason?.message);
    });
    await failure(client.callTool('die'));
    const error = await failure(client.callTool('echo'));
    expect(error.code).toBe('connection_closed');
    expect(error.message).toContain('The disk is full');
    await until('the client is closed', () => client.status === 'closed');
    expect(reasons).toEqual([expect.stringContaining('The disk is full')]);
  });
});

describe('a server process that sends wrong messages', () => {
  test.each(['never', 'wrong id', 'half a message', 'progress and silence'])(
    'but no response (%s) makes the call time out and be cancelled, and the next call works',
    async (tool) => {
      // The odd message must arrive before the timeout.
      const client = await start({ timeoutMs: 2000 });
      const error = await failure(client.callTool(tool));
      expect(error.code).toBe('timeout');
      expect(error.message).toContain(
        `tools/call "${tool}": no response and no progress for 2000 ms (timeoutMs)`,
      );
      // The odd message may explain the timeout.
      if (tool === 'wrong id') expect(error.message).toMatch(/Meanwhile: .*not open.*id "?\d+/);
      if (tool === 'half a message') expect(error.message).toMatch(/Meanwhile: .*not valid JSON/);
      expect(client.pending()).toEqual([]);
      expect((await client.callTool('echo', { text: 'still here' }, { timeoutMs: 15_000 })).text).toBe(
        'still here',
      );
      expect(notes()).toContain('notifications/cancelled');
    },
  );

  test('may send two responses: the first counts, and the second is reported', async () => {
    const client = await start();
    expect((await client.callTool('twice')).text).toBe('the first');
    expect((await client.callTool('echo')).text).toBe('hello');
    expect(client.info().problems.join('\n')).toContain('answered it twice');
  });

  test('may send garbage between messages, which is skipped and reported', async () => {
    const client = await start();
    expect((await client.callTool('garbage')).text).toBe('after the garbage');
    const problems = client.info().problems.join('\n');
    expect(problems).toContain('Server started!');
    expect(problems).toContain('not valid JSON');
  });

  test('may omit the result type, and the result counts as complete', async () => {
    const client = await start();
    expect((await client.callTool('no type')).text).toBe('untyped');
  });

  test('may send a response of 100 MB, which fails its call, and the next call works', async () => {
    const client = await start({ timeoutMs: 60_000 });
    const error = await failure(client.callTool('100 MB'));
    expect(error.code).toBe('bad_response');
    expect(error.message).toContain(
      'The answer to tools/call was not read. The server wrote a message of more than',
    );
    expect(error.message).toContain('raise `maxMessageBytes`');
    expect((await client.callTool('echo')).text).toBe('hello');
  });

  test('may send a line of 100 MB that is not a message, which is skipped, and the next call works', async () => {
    const client = await start({ timeoutMs: 15_000 });
    const error = await failure(client.callTool('100 MB of one line', {}, { timeoutMs: 6000 }));
    expect(error.code).toBe('timeout');
    expect(error.message).toContain(
      'Meanwhile: The server wrote a message of more than 16777216 bytes. It was skipped.',
    );
    expect((await client.callTool('echo')).text).toBe('hello');
  });
});

describe('closing the client of a server process', () => {
  test.each(['stays', 'parent'])(
    'ends the process and its children, even if they ignore SIGTERM (%s)',
    async (how) => {
      const client = await start({}, how);
      expect(pids()).toHaveLength(how === 'parent' ? 2 : 1);
      await soon('The end of the client', client.close());
      expect(pids().filter(isAlive)).toEqual([]);
      expect(client.status).toBe('closed');
    },
  );

  test('ends a process that is being restarted', async () => {
    const client = await start({}, 'stays-later', `${pidFile()}.lived`);
    await failure(client.callTool('die'));
    await until('the next process has started', () => pids().length === 2);
    expect(client.status).toBe('reconnecting');
    await client.close();
    expect(pids().filter(isAlive)).toEqual([]);
  });

  test('ends a process that had closed its output before', async () => {
    const client = await start({ reconnect: false });
    await failure(client.callTool('close its output'));
    expect(client.status).toBe('closed');
    await client.close();
    expect(pids().filter(isAlive)).toEqual([]);
  });

  test('ends the open calls', async () => {
    const client = await start();
    const open = failure(client.callTool('never'));
    await until('the call has arrived', () => notes().includes('tools/call'));
    await client.close();
    expect((await open).code).toBe('connection_closed');
    expect(client.pending()).toEqual([]);
  });
});
