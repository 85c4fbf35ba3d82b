import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../../../src/client/model/client.js';
import type { Target } from '../../../../src/connect/targets/target.js';
import { createServer, McpError, type Server, tool } from '../../../../src/index.js';
import { soon, until } from '../../../support/until.js';
import { groupOf, inProcess, namesOf, serverWith } from './group-servers.js';

afterEach(() => {
  vi.useRealTimers();
});

/** Connects every server that is not broken. */
function failing(broken: Set<Target>): typeof inProcess {
  return async (target, options) => {
    if (broken.has(target)) throw new McpError('connect_failed', 'no such command');
    return inProcess(target, options);
  };
}

describe('a server of a group that fails', () => {
  test('to connect is left out, reported once for each attempt, and does not harm the others', async () => {
    const [a, b] = [serverWith('a', 'x'), serverWith('b', 'y')];
    const broken = new Set<Target>([a]);
    await using set = await groupOf({ a, b }, {}, failing(broken));
    const { group } = set;
    expect(await namesOf(group.tools())).toEqual(['b_y']);
    expect(await namesOf(group.tools())).toEqual(['b_y']);
    expect(set.problems).toEqual(['a: no such command']);
    expect((await group.callTool('b_y')).text).toBe('b.y');
    await expect(group.callTool('a_x')).rejects.toMatchObject({
      code: 'connect_failed',
      message: 'a: no such command',
    });
    expect(group.servers.get('a')).toMatchObject({ status: 'failed', error: { code: 'connect_failed' } });
    expect(set.connected).toEqual([a, b]);
  });

  test('to connect is retried when it is used, after growing delays', async () => {
    vi.useFakeTimers();
    const a = serverWith('a', 'x');
    const broken = new Set<Target>([a]);
    await using set = await groupOf({ a }, {}, failing(broken));
    const attemptAfter = async (ms: number): Promise<number> => {
      vi.advanceTimersByTime(ms);
      await set.group.callTool('a_x').catch(() => {});
      return set.connected.length;
    };
    expect(await attemptAfter(0)).toBe(1);
    expect(await attemptAfter(990)).toBe(1);
    expect(await attemptAfter(20)).toBe(2);
    expect(await attemptAfter(1500)).toBe(2);
    expect(await attemptAfter(600)).toBe(3);
    for (let more = 0; more < 8; more++) await attemptAfter(60_001);
    expect(set.connected).toHaveLength(11);
    broken.clear();
    vi.advanceTimersByTime(60_001);
    expect((await set.group.callTool('a_x')).text).toBe('a.x');
    expect(set.group.servers.get('a')?.status).toBe('ready');
  });

  test('to connect is reported to subscribers when it is available again', async () => {
    const a = serverWith('a', 'x');
    const broken = new Set<Target>([a]);
    await using set = await groupOf({ a, b: serverWith('b', 'y') }, {}, failing(broken));
    const kinds: string[] = [];
    await set.group.subscribe({ tools: true }, { onChange: ({ kind }) => kinds.push(kind) });
    expect(await namesOf(set.group.tools())).toEqual(['b_y']);
    expect(kinds).toEqual([]);
    broken.clear();
    await until('it may be tried again', async () => (await namesOf(set.group.tools())).length === 2);
    expect(kinds).toEqual(['tools']);
  });

  test('a call is named in the error', async () => {
    const odd = createServer({
      name: 'odd',
      version: '1',
      tools: { x: tool({ run: () => 'x' }) },
      use: [
        (call, next) => {
          if (call.method !== 'tools/call') return next(call);
          throw new McpError('overloaded', 'too busy', { data: { retryAfterMs: 1 } });
        },
      ],
    });
    await using set = await groupOf({ odd });
    await expect(set.group.callTool('odd_x')).rejects.toMatchObject({
      code: 'overloaded',
      message: 'odd: too busy',
      data: { retryAfterMs: 1 },
    });
  });

  test('to list its tools is left out of the list, but can be called', async () => {
    const half = createServer({
      name: 'half',
      version: '1',
      tools: { x: tool({ run: () => 'x' }) },
      use: [
        (call, next) => {
          if (call.method !== 'tools/list') return next(call);
          throw new McpError('internal_error', 'no list today');
        },
      ],
    });
    await using set = await groupOf({ half, b: serverWith('b', 'y') });
    expect(await namesOf(set.group.tools())).toEqual(['b_y']);
    expect(set.problems).toEqual(['half: its tools are left out: no list today']);
    expect((await set.group.callTool('half_x')).text).toBe('x');
  });

  test('after it was connected is reconnected by its next use', async () => {
    const a = serverWith('a', 'x');
    await using set = await groupOf({ a }, {});
    await (await set.group.member('a')).close();
    expect(set.group.servers.get('a')?.status).toBe('failed');
    expect((await set.group.callTool('a_x')).text).toBe('a.x');
    expect(set.connected).toHaveLength(2);
  });
});

describe('a server of a group that hangs', () => {
  /** Answers nothing until it is aborted. */
  const never: Target = {
    dispatch: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  };

  test('while it connects is left out of the lists, and does not delay the second list at all', async () => {
    await using set = await groupOf({ never, b: serverWith('b', 'y') }, { timeoutMs: 2000 });
    const { group } = set;
    expect((await group.callTool('b_y')).text).toBe('b.y');
    expect(await namesOf(group.tools())).toEqual(['b_y']);
    expect(set.problems).toEqual(['never: still connecting: its tools are left out until it is connected']);
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    expect(await namesOf(group.tools()), 'while the time stands still').toEqual(['b_y']);
    vi.useRealTimers();
    expect(group.servers.get('never')?.status).toBe('connecting');
  });

  test('while it is listed is left out, and not asked again for a while', async () => {
    let requests = 0;
    const mute = createServer({
      name: 'mute',
      version: '1',
      tools: { x: tool({ run: () => 'x' }) },
      use: [
        (call, next) => {
          if (call.method !== 'tools/list') return next(call);
          requests++;
          return new Promise(() => {});
        },
      ],
    });
    await using set = await groupOf({ mute, b: serverWith('b', 'y') }, { timeoutMs: 400 });
    expect(await namesOf(set.group.tools())).toEqual(['b_y']);
    expect(await namesOf(set.group.tools())).toEqual(['b_y']);
    expect(requests).toBe(1);
    expect(set.problems).toEqual([
      expect.stringMatching(/^mute: its tools are left out: no response within \d+ ms$/),
    ]);
    expect((await set.group.callTool('mute_x')).text).toBe('x');
  });

  test('does not keep resources of another server from being read, and does not delay the second read at all', async () => {
    const b = createServer({ name: 'b', version: '1' });
    b.resource('x://1', {}, () => 'one');
    await using set = await groupOf({ never, b: b as unknown as Server }, { timeoutMs: 60_000 });
    // The others wait briefly, once; then the owner is known.
    expect((await soon('the resource', set.group.readResource('x://1'))).text).toBe('one');
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    expect((await set.group.readResource('x://1')).text, 'while the time stands still').toBe('one');
    vi.useRealTimers();
    expect(set.group.servers.get('never')?.status).toBe('connecting');
  });

  test('does not keep the group from closing', async () => {
    const signals: AbortSignal[] = [];
    const set = await groupOf({ never, b: serverWith('b', 'y') }, {}, (target, options) => {
      signals.push(options.signal as AbortSignal);
      // A server that stops when it is aborted.
      if (target !== never) return inProcess(target, options);
      return new Promise<Client>((_, reject) => {
        options.signal?.addEventListener('abort', () => reject(options.signal?.reason));
      });
    });
    const waiting = set.group.callTool('never_x');
    const member = set.group.member('never');
    const failures = Promise.allSettled([waiting, member]);
    await set.group.callTool('b_y');
    await soon('the end', set.group.close());
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    for (const failure of await failures)
      expect(failure).toMatchObject({ status: 'rejected', reason: { code: 'connection_closed' } });
    expect(set.group.status).toBe('closed');
    expect([...set.group.servers.values()].map(({ status }) => status)).toEqual(['closed', 'closed']);
    await expect(set.group.callTool('b_y')).rejects.toMatchObject({ code: 'connection_closed' });
    expect(() => set.group.add('c', { target: serverWith('c') })).toThrow('closed');
  });

  test('and connects after the group was closed is closed then', async () => {
    let arrive: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    let late: Client | undefined;
    const set = await groupOf({ a: serverWith('a', 'x') }, {}, async (target, { signal: _, ...options }) => {
      await gate;
      late = await inProcess(target, options);
      return late;
    });
    const call = set.group.callTool('a_x').catch((error: McpError) => error.code);
    await until('it connects', () => set.connected.length === 1);
    const closed = set.group.close();
    expect(await call).toBe('connection_closed');
    arrive();
    await soon('the end', closed);
    expect(late?.status).toBe('closed');
  });
});
