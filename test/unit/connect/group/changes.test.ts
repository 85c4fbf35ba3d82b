import { describe, expect, test } from 'vitest';
import type { Change } from '../../../../src/client/model/client.js';
import { createServer, type Server, tool } from '../../../../src/index.js';
import { soon, until } from '../../../support/until.js';
import { groupOf, namesOf, serverWith } from './group-servers.js';

function recorder(): { readonly kinds: unknown[]; readonly onChange: (change: Change) => void } {
  const kinds: unknown[] = [];
  return {
    kinds,
    onChange: (change) => kinds.push(change.kind === 'resource' ? change.uri : change.kind),
  };
}

function shelf(name: string, ...uris: readonly string[]): Server {
  const server = createServer({ name, version: '1', changes: true });
  for (const uri of uris) server.resource(uri, {}, () => uri);
  return server as unknown as Server;
}

describe('servers that are added and removed', () => {
  test('are reported to subscribers as changes, and their tools appear and disappear', async () => {
    await using set = await groupOf({ a: serverWith('a', 'x') });
    const { group } = set;
    const { kinds, onChange } = recorder();
    await group.subscribe({ tools: true, resources: true }, { onChange });
    const tools = { y: tool({ run: () => 'y' }) };
    group.add('b', { target: createServer({ name: 'b', version: '1', tools }) });
    expect(kinds).toEqual(['tools', 'resources']);
    expect(set.connected).toEqual([]);
    expect(await namesOf(group.tools())).toEqual(['a_x', 'b_y']);
    kinds.length = 0;
    await group.remove('b');
    // The server had no resources.
    expect(kinds).toEqual(['tools']);
    expect(await namesOf(group.tools())).toEqual(['a_x']);
    await expect(group.callTool('b_y')).rejects.toMatchObject({ code: 'invalid_params' });
    await group.remove('b');
  });

  test('end their open calls when they are removed', async () => {
    const slow = createServer({
      name: 'slow',
      version: '1',
      tools: { wait: tool({ run: () => new Promise(() => {}) }) },
    });
    await using set = await groupOf({ slow, a: serverWith('a', 'x') });
    const waiting = set.group.callTool('slow_wait').catch((error) => error);
    const member = await set.group.member('slow');
    await until('the call is open', () => member.pending().length === 1);
    await set.group.remove('slow');
    expect(await waiting).toMatchObject({
      code: 'connection_closed',
      message: expect.stringMatching(/^slow: /),
    });
    expect(member.status).toBe('closed');
    expect((await set.group.callTool('a_x')).text).toBe('a.x');
    expect([...set.group.servers.keys()]).toEqual(['a']);
  });

  test('are validated like the servers of a config', async () => {
    await using set = await groupOf({ a: serverWith('a', 'x') });
    const { group } = set;
    expect(() => group.add('a', { target: serverWith('a') })).toThrow('Remove it first');
    expect(() => group.add('a b', { target: serverWith('a') })).toThrow('letters, digits');
    expect(() => group.add('c', { command: 'x', url: 'https://e.com' } as never)).toThrow('both');
    group.add('off', { target: serverWith('off', 'z'), disabled: true });
    expect([...group.servers.keys()]).toEqual(['a']);
  });
});

describe('changes of members', () => {
  test('are reported from servers that are connected and from those that connect later', async () => {
    const [a, b] = [serverWith('a', 'x'), serverWith('b', 'y')];
    await using set = await groupOf({ a, b });
    const { group } = set;
    await group.callTool('a_x');
    const { kinds, onChange } = recorder();
    const subscription = await group.subscribe({ tools: true }, { onChange });
    expect(subscription.accepted).toEqual({ tools: true });
    expect(set.connected).toEqual([a]);
    a.tool('more', {}, () => 'more');
    await until('a is reported', () => kinds.length === 1);
    await group.callTool('b_y');
    // The group subscribes automatically when the server is connected.
    let added = 0;
    await until('b is reported', () => {
      b.tool(`more${added++}`, {}, () => 'more');
      return kinds.length > 1;
    });
    await subscription.close();
    kinds.length = 0;
    a.tool('again', {}, () => 'again');
    expect((await group.callTool('a_again')).text).toBe('again');
    expect(kinds).toEqual([]);
    await until('nothing listens any more', async () => (await group.member('a')).pending().length === 0);
  });

  test('of a resource are reported only from the server that lists it, or from any if none does', async () => {
    const [a, b] = [shelf('a', 'x://1'), shelf('b', 'x://2')];
    await using set = await groupOf({ a, b, c: serverWith('c', 't') });
    const { kinds, onChange } = recorder();
    const subscription = await set.group.subscribe({ uris: ['x://2', 'x://unlisted'] }, { onChange });
    expect(subscription.accepted.uris?.toSorted()).toEqual(['x://2', 'x://unlisted']);
    b.changed.resource('x://2');
    a.changed.resource('x://unlisted');
    a.changed.resource('x://2');
    a.changed.resource('x://1');
    await until('both are reported', () => kinds.length >= 2);
    expect(kinds).toEqual(['x://2', 'x://unlisted']);
  });

  test('of tasks are reported under the ids of the group', async () => {
    let finish: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const worker = createServer({
      name: 'worker',
      version: '1',
      tools: {
        job: tool({
          task: { support: 'optional', pollIntervalMs: 20 },
          run: async () => {
            await gate;
            return 'done';
          },
        }),
      },
    });
    await using set = await groupOf({ w: worker });
    const task = await set.group.startTool('w_job');
    const changes: Change[] = [];
    await set.group.subscribe({ tasks: [task.id as string] }, { onChange: (change) => changes.push(change) });
    finish();
    await until('it is reported', () => changes.length > 0);
    expect(changes[0]).toMatchObject({ kind: 'task', id: task.id, state: { status: 'completed' } });
    await worker.close();
  });

  test('are reported again after the client of a member was closed and used again', async () => {
    const a = shelf('a', 'x://1');
    await using set = await groupOf({ a, b: serverWith('b', 'y') });
    const { kinds, onChange } = recorder();
    await set.group.subscribe({ uris: ['x://1'] }, { onChange });
    await (await set.group.member('a')).close();
    expect((await set.group.readResource('x://1')).text).toBe('x://1');
    await until('it is reported', () => {
      a.changed.resource('x://1');
      return kinds.length > 0;
    });
    expect(kinds[0]).toBe('x://1');
  });

  test('are no longer waited for when the group is closed', async () => {
    const set = await groupOf({ a: serverWith('a', 'x') });
    await set.group.callTool('a_x');
    const subscription = await set.group.subscribe({ tools: true });
    const loop = (async () => {
      for await (const _ of subscription) throw new Error('nothing changes');
      return 'over';
    })();
    const member = await set.group.member('a');
    await set.group.close();
    expect(await soon('the end', loop)).toBe('over');
    expect(member.pending()).toEqual([]);
  });
});
