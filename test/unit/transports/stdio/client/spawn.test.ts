import process from 'node:process';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Wire } from '../../../../../src/transports/client/wire.js';
import {
  type ServerProcess,
  type SpawnOptions,
  spawnWire,
} from '../../../../../src/transports/stdio/client/spawn.js';
import { until } from '../../../../support/until.js';
import { oddServer, type RecordedWire, recordWire } from '../../../../support/wires/recorded-wire.js';

const wires: Wire[] = [];
afterEach(async () => {
  await Promise.all(wires.splice(0).map((wire) => wire.close()));
  vi.unstubAllEnvs();
  expect(process.listeners('exit').map(({ name }) => name)).not.toContain('killAll');
});

type StartOptions = Partial<ServerProcess> & { readonly options?: SpawnOptions };

function start(
  what: string,
  { options, ...server }: StartOptions = {},
): RecordedWire & { readonly wire: Wire } {
  const wire = spawnWire({ command: process.execPath, args: [oddServer, what], ...server }, options);
  wires.push(wire);
  return { wire, ...recordWire(wire) };
}

describe("messages over a process's pipes", () => {
  test('go both ways as lines, whatever they contain', async () => {
    const { wire, next, problems } = start('echo');
    const value = { text: 'héllo\n\u2028\u2029 😀', number: 1 };
    wire.send(JSON.stringify(value));
    expect(await next()).toEqual(value);
    expect(problems).toEqual([]);
  });

  test('keep their order when many are sent in one turn', async () => {
    const { wire, messages } = start('echo');
    const sent = Array.from({ length: 5000 }, (_, at) => `{"at":${at}}`);
    for (const text of sent) wire.send(text);
    await until('all have returned', () => messages.length === sent.length);
    expect(messages).toEqual(sent);
  });

  test('are distinguished from other output, which is reported', async () => {
    const { next, problems } = start('junk');
    expect(await next()).toEqual({ after: 'junk' });
    expect(await next()).toEqual([{ a: 'batch' }]);
    expect(problems).toEqual([
      expect.stringContaining('"Server starting on stdio..."'),
      expect.stringContaining('"\\u001b[31mred\\u001b[0m"'),
    ]);
  });

  test('are read after much other output, of which ten lines are reported', async () => {
    const { next, problems } = start('much junk');
    expect(await next()).toEqual({ after: 'junk' });
    expect(problems).toHaveLength(11);
    expect(problems[9]).toContain('junk 10');
    expect(problems[10]).toContain('no more are reported');
  });

  test('that are too long are skipped, and the next is read', async () => {
    const { next, problems } = start('', {
      args: [oddServer, 'long lines', '2000000'],
      options: { maxMessageBytes: 1000 },
    });
    expect(await next()).toEqual({ after: 'long' });
    expect(problems).toEqual(['The server wrote a message of more than 1000 bytes. It was skipped.']);
  });

  test('of exactly the maximum length are read', async () => {
    const overhead = '{"long":""}'.length;
    const { next, problems } = start('', {
      args: [oddServer, 'long lines', String(1000 - overhead)],
      options: { maxMessageBytes: 1000 },
    });
    expect((await next())['long']).toHaveLength(1000 - overhead);
    expect(problems).toEqual([]);
  });

  test('to a server that does not read end the connection with the reason', async () => {
    const { wire, end, closed } = start('not read', { options: { maxBufferedBytes: 1000, exitMs: 50 } });
    const text = JSON.stringify('x'.repeat(100_000));
    await until('it is given up', () => {
      wire.send(text);
      return closed.length > 0;
    });
    expect((await end()).message).toContain('does not read its input');
    await wire.close();
  });
});

describe('the end of a server process', () => {
  test('is reported with exit code and standard error, even before any message', async () => {
    const { end, closed, wire } = start('exit at once');
    const error = await end();
    expect(error).toMatchObject({ code: 'connection_closed' });
    expect(error.message).toBe(
      `The server ${JSON.stringify(`${process.execPath} ${oddServer} …`)} has ended with exit code 3. It wrote to standard error:\n` +
        'Error: DATABASE_URL is not set\n    at start (server.js:1:1)',
    );
    expect(error.data).toEqual({
      command: process.execPath,
      exitCode: 3,
      signal: null,
      stderr: ['Error: DATABASE_URL is not set', '    at start (server.js:1:1)'],
      stdout: [],
    });
    await wire.close();
    expect(closed).toHaveLength(1);
  });

  test('is reported after its last messages', async () => {
    const { end, messages } = start('last words');
    const error = await end();
    expect(messages).toEqual(['{"last":"words"}', '{"without":"newline"}']);
    expect(error.message).toContain('exit code 0. It wrote to standard error:\nwithout newline');
  });

  test('by a signal is reported with the signal', async () => {
    const error = await start('kill itself').end();
    expect(error.message).toContain('was ended by SIGKILL.');
    expect(error.data).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
  });

  test('is reported with the first and the last lines of a long standard error, each cut', async () => {
    const error = await start('much on stderr').end();
    const { stderr } = error.data as { stderr: string[] };
    const line = (at: number): string => `line ${at} y`.slice(0, 8).trim();
    expect(stderr.map((text) => (text.startsWith('line') ? text.slice(0, 8).trim() : text))).toEqual([
      ...Array.from({ length: 10 }, (_, at) => line(1 + at)),
      '… 70 lines left out …',
      ...Array.from({ length: 20 }, (_, at) => line(81 + at)),
    ]);
    expect(error.message).toContain('… 70 lines left out …');
    expect(Math.max(...stderr.map((line) => line.length))).toBe(1000);
  });

  test('is reported with an error from standard output if standard error is empty', async () => {
    const { end } = start('', {
      args: [
        '-e',
        'console.log("usage: server --root FOLDER"); console.log(process.env.API_TOKEN); process.exit(2)',
      ],
      env: { API_TOKEN: 'sk-0123456789' },
    });
    const error = await end();
    expect(error.message).toBe(
      `The server ${JSON.stringify(`${process.execPath} -e …`)} has ended with exit code 2. It wrote to standard output:\n` +
        'usage: server --root FOLDER\n[API_TOKEN]',
    );
    expect(error.data).toMatchObject({ stdout: ['usage: server --root FOLDER', '[API_TOKEN]'] });
  });

  test('is reported without the values of env, control characters or arguments', async () => {
    const { end } = start('', {
      args: [oddServer, 'say a secret', '--token=argument-secret'],
      env: { API_TOKEN: 'sk-0123456789' },
    });
    const error = await end();
    expect(error.message).toContain('\ncannot log in with [API_TOKEN]');
    const all = error.message + JSON.stringify(error.data);
    expect(all).not.toMatch(/sk-0123456789|argument-secret|\\u00/);
  });

  test.each(['input', 'output'])('is forced if it closes its %s and keeps running', async (pipe) => {
    const { wire, next, closed, end } = start(`close its ${pipe}`, { options: { exitMs: 50 } });
    await next();
    if (pipe === 'input') {
      await until('the client notices it', () => {
        wire.send('{}');
        return closed.length > 0;
      });
    }
    expect((await end()).message).toContain(`has closed its standard ${pipe} and was therefore ended`);
    await wire.close();
  });

  test('makes later writes harmless', async () => {
    const { wire, end } = start('exit at once');
    for (let at = 0; at < 1000; at++) wire.send(JSON.stringify('x'.repeat(10_000)));
    await end();
    wire.send('{}');
    await wire.close();
    wire.send('{}');
  });
});

describe('the standard error of a server', () => {
  test('goes to a listener by lines, and a listener that throws does no harm', async () => {
    const lines: string[] = [];
    const { end, problems } = start('exit at once', {
      stderr: (line) => {
        lines.push(line);
        throw new Error('a listener fails');
      },
    });
    expect((await end()).message).toContain('DATABASE_URL');
    expect(lines).toEqual(['Error: DATABASE_URL is not set', '    at start (server.js:1:1)']);
    expect(problems).toHaveLength(2);
  });

  test('is not in the error if it is inherited', async () => {
    const error = await start('exit at once', { stderr: 'inherit' }).end();
    expect(error.message).toMatch(/has ended with exit code 3\.$/);
    expect(error.data).toMatchObject({ stderr: [] });
  });
});

describe('starting a process fails with the reason', () => {
  test('for a command that does not exist, with PATH', async () => {
    const { end, wire } = start('', {
      command: 'no-such-server',
      args: ['--token', 'argument-secret'],
      env: { PATH: '/nowhere:/else' },
    });
    const error = await end();
    expect(error.code).toBe('connect_failed');
    expect(error.message).toBe(
      'The command "no-such-server" was not found. PATH, where it was looked for, is /nowhere:/else',
    );
    expect(JSON.stringify(error.cause) + JSON.stringify(error.data)).not.toContain('argument-secret');
    await wire.close();
  });

  test('for a command with its arguments in one string', async () => {
    const error = await start('', { command: 'npx -y some-server --token=argument-secret' }).end();
    expect(error.message).toContain('The command "npx" was not found. Arguments belong in "args"');
    expect(error.message).not.toContain('argument-secret');
  });

  test('for a folder that does not exist', async () => {
    const error = await start('echo', { cwd: '/no/such/folder' }).end();
    expect(error.code).toBe('connect_failed');
    expect(error.message).toMatch(/^The folder "\/no\/such\/folder", in which .* does not exist\.$/);
  });

  test('for a file that is not executable', async () => {
    const error = await start('', { command: oddServer }).end();
    expect(error).toMatchObject({ code: 'connect_failed', data: { command: oddServer } });
    expect(error.message).toContain('may not be started (EACCES)');
  });

  test('for an argument that no process can receive', async () => {
    const error = await start('', { args: ['a\0b'] }).end();
    expect(error).toMatchObject({ code: 'connect_failed' });
    expect(error.message).toContain('could not be started (ERR_INVALID_ARG_VALUE)');
  });
});

test('a server process gets the safe variables of the environment and the configured ones', async () => {
  vi.stubEnv('SECRET_TOKEN', 'secret');
  vi.stubEnv('LC_ALL', 'C');
  vi.stubEnv('TERM', '() { :; }; echo hacked');
  const { next } = start('environment', { env: { GIVEN: 'yes' } });
  const environment = await next();
  expect(environment).toMatchObject({ PATH: process.env['PATH'], LC_ALL: 'C', GIVEN: 'yes' });
  expect(Object.keys(environment)).not.toContain('SECRET_TOKEN');
  expect(Object.keys(environment)).not.toContain('TERM');
});

test('a wire that is closed before it starts never starts', async () => {
  const wire = spawnWire({ command: 'no-such-server' });
  await wire.close();
  const { closed, messages } = recordWire(wire);
  await new Promise((resolve) => setImmediate(resolve));
  expect({ closed, messages }).toEqual({ closed: [], messages: [] });
});
