import { createServer, event, inProcess, tool } from 'fullmcp';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HOSTILE, UNSAFE } from '../check/support.js';
import { fullmcp, type RunOptions } from '../support/run-cli.js';
import { served } from './support.js';

const payload = z.object({ id: z.string(), queue: z.string() });
const events = {
  ticket_changed: event({
    description: 'A ticket changed',
    input: z.object({ queue: z.string().optional() }),
    payload,
    match: (data, { queue }) => queue === undefined || data.queue === queue,
  }),
  polled: event({ description: 'Only polled', payload, delivery: ['poll'] }),
  urgent: event({ input: z.object({ level: z.number() }), payload }),
};

async function desk() {
  const server = createServer({ name: 'desk', version: '1.0.0', logger: () => undefined, events });
  return { server, url: await served(server) };
}

/** Does something as soon as the command follows the events. */
function whenFollowing(work: () => unknown): RunOptions {
  let isDone = false;
  return {
    onStderr(written) {
      if (isDone || !written.includes('Following ')) return;
      isDone = true;
      work();
    },
  };
}

const cursorIn = (stderr: string): string => /--cursor (\S+)/.exec(stderr)?.[1] ?? '';

describe('fullmcp events list', () => {
  test('prints the types with their arguments, their data and the ways of delivery', async () => {
    const { url } = await desk();
    const { exit, stdout } = await fullmcp(['events', 'list', url]);
    expect(exit).toBe(0);
    expect(stdout).toContain(
      'ticket_changed(queue?: string) → { id: string, queue: string }  push, poll\n    A ticket changed\n',
    );
    expect(stdout).toContain('polled() → { id: string, queue: string }  poll\n');
    const { ok, events: listed } = (await fullmcp(['events', 'list', url, '--json'])).json<{
      ok: boolean;
      events: { name: string }[];
    }>();
    expect({ ok, names: listed.map(({ name }) => name) }).toEqual({
      ok: true,
      names: ['ticket_changed', 'polled', 'urgent'],
    });
  });

  test('says that a server declares no events', async () => {
    const url = await served(
      createServer({ name: 'still', version: '1.0.0', tools: { a: tool({ run: () => 'a' }) } }),
    );
    expect(await fullmcp(['events', 'list', url])).toMatchObject({
      ...{ exit: 0, stdout: '', stderr: 'The server declares no events.\n' },
    });
    expect(await fullmcp(['events', 'listen', url, 'x'])).toMatchObject({
      exit: 2,
      stderr: 'The server declares no events. `fullmcp list` shows what it offers.\n',
    });
  });
});

describe('fullmcp events listen', () => {
  test('prints the events that its arguments ask for, ends after --count, and continues with --cursor', async () => {
    const { server, url } = await desk();
    const emit = (id: string, queue: string) => server.emit('ticket_changed', { id, queue }, { eventId: id });
    const words = ['events', 'listen', url, 'ticket_changed', 'queue=billing'];
    const first = await fullmcp(
      [...words, '--count', '1'],
      whenFollowing(async () => {
        await emit('other', 'sales');
        await emit('t1', 'billing');
        await emit('t2', 'billing');
      }),
    );
    expect(first).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^\S+Z {2}t1 {2}\{"id":"t1","queue":"billing"\}\n$/),
      stderr: expect.stringContaining('Following ticket_changed on a stream. Ctrl+C ends it.\n'),
    });
    const next = await fullmcp([...words, '--count', '1', '--cursor', cursorIn(first.stderr), '--json']);
    expect(next.json()).toEqual({
      ok: true,
      kind: 'event',
      event: {
        ...{
          eventId: 't2',
          name: 'ticket_changed',
          timestamp: expect.any(String),
          cursor: expect.any(String),
        },
        data: { id: 't2', queue: 'billing' },
      },
    });
    expect(next.stdout.trimEnd()).not.toContain('\n');
  });

  test('polls where there are no streams, and Ctrl+C ends it with 130 and the cursor', async () => {
    const { server, url } = await desk();
    const stop = new AbortController();
    const { cursor } = await inProcess(server)('events/poll', { name: 'polled' });
    await server.emit('polled', { id: 'p1', queue: 'a' }, { eventId: 'p1' });
    const ran = await fullmcp(['events', 'listen', url, 'polled', '--cursor', String(cursor)], {
      signal: stop.signal,
      onStdout: () => stop.abort(),
    });
    expect(ran).toMatchObject({ exit: 130, stderr: expect.stringContaining('Following polled by polling.') });
    expect(ran.stdout).toContain('  p1  {"id":"p1","queue":"a"}\n');
    expect(ran.stderr).toMatch(/Continue after the last event with: --cursor \S+\n$/);
  });

  test('says that events are missing if the server does not know the cursor', async () => {
    const { server, url } = await desk();
    const words = [
      'events',
      'listen',
      url,
      'ticket_changed',
      '--count',
      '1',
      '--cursor',
      'of-another-server',
      '--json',
    ];
    const { exit, stdout, stderr } = await fullmcp(
      words,
      whenFollowing(() => server.emit('ticket_changed', { id: 't1', queue: 'a' })),
    );
    expect(exit).toBe(0);
    expect(stdout.split('\n').map((line) => line && JSON.parse(line).kind)).toEqual(['gap', 'event', '']);
    expect(stderr).toContain('Events may be missing: the server no longer has all of them.\n');
  });

  test('refuses a type or an argument that the server does not have, and names a close one', async () => {
    const { url } = await desk();
    const said = async (...words: readonly string[]) => {
      const { exit, stdout, stderr } = await fullmcp(['events', 'listen', url, ...words]);
      return { exit, stdout, stderr };
    };
    expect(await said('ticket_chnged')).toEqual({
      ...{ exit: 2, stdout: '' },
      stderr: 'No type of events is called "ticket_chnged". Did you mean "ticket_changed"?\n',
    });
    expect(await said('ticket_changed', 'queu=a')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('did you mean "queue"?'),
    });
    expect(await said('urgent')).toMatchObject({ exit: 2, stderr: expect.stringContaining('level') });
    expect(await said('urgent', 'level=high')).toMatchObject({ exit: 2 });
    expect(await said()).toMatchObject({ exit: 2, stderr: expect.stringContaining('events list') });
    expect(await said('urgent', 'level=1', '--count', '0')).toMatchObject({ exit: 2 });
  });

  test('says how to get events that only webhooks get', async () => {
    const hooked = event({ payload, delivery: ['webhook'] });
    const url = await served(
      createServer({ name: 'hooks', version: '1.0.0', events: { hooked }, webhooks: {} }),
    );
    expect(await fullmcp(['events', 'listen', url, 'hooked'])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('only to webhooks'),
    });
  });

  test('fails when the server ends the subscription', async () => {
    const { server, url } = await desk();
    const added = server.event('passing', event({ payload }));
    const { exit, stdout, stderr } = await fullmcp(
      ['events', 'listen', url, 'passing'],
      whenFollowing(() => added.remove()),
    );
    expect({ exit, stdout }).toEqual({ exit: 4, stdout: '' });
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/passing/);
  });

  test('prints events whose text would control the terminal', async () => {
    const { server, url } = await desk();
    for (const more of [[], ['--json']]) {
      const words = ['events', 'listen', url, 'ticket_changed', '--count', '1', ...more];
      const { stdout, stderr } = await fullmcp(
        words,
        whenFollowing(() => server.emit('ticket_changed', { id: HOSTILE, queue: HOSTILE })),
      );
      expect(stdout).toContain('owned');
      for (const unsafe of UNSAFE) expect(stdout + stderr).not.toContain(unsafe);
    }
  });
});
