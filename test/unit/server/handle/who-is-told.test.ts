import { createServer, inProcess, memoryBus, resource, ToolError } from 'fullmcp';
import { testClient, wires } from 'fullmcp/testing';
import { describe, expect, it } from 'vitest';
import type { Bus } from '../../../../src/state/bus.js';
import { until } from '../../../support/until.js';

const owners: Readonly<Record<string, string>> = { 1: 'ada', 2: 'bob', 3: 'bob' };

interface TrackerOptions {
  readonly bus?: Bus;
  readonly log?: (message: string) => void;
}

/** A server of issues, each of which exists for its owner alone. */
function tracker({ bus, log }: TrackerOptions = {}) {
  const reads: string[] = [];
  const server = createServer({
    ...{ name: 'tracker', version: '1.0.0', secret: 'x'.repeat(32) },
    logger: (_level, message) => log?.(message),
    ...(bus && { bus }),
    changes: true,
    user: ({ auth }) => auth?.subject ?? 'nobody',
    resources: {
      'issue://{id}': resource({
        read({ id }, { user }) {
          reads.push(`${user} ${id}`);
          return owners[id] === user ? `Issue ${id}` : undefined;
        },
      }),
      'note://{id}': resource({
        read({ id }, { user }) {
          if (owners[id] !== user) throw new ToolError('No such note');
          return `Note ${id}`;
        },
      }),
      'broken://{id}': resource({
        read() {
          throw new Error('The database is away');
        },
      }),
      'slow://{id}': resource({ read: () => new Promise<string>(() => undefined) }),
      'page://about': resource({
        cacheScope: 'public',
        read(_, { user }) {
          reads.push(`${user} about`);
          return 'About';
        },
      }),
    },
  });
  return { server, reads };
}

interface Listening {
  readonly heard: string[];
  readonly end: () => void;
}

async function listen(
  server: Parameters<typeof inProcess>[0],
  caller: { readonly subject: string; readonly issuer?: string } | undefined,
  notifications: object,
): Promise<Listening> {
  const heard: string[] = [];
  const ending = new AbortController();
  let isAcknowledged = false;
  const call = inProcess(server, caller && { caller });
  void call(
    'subscriptions/listen',
    { notifications: { ...notifications } },
    {
      signal: ending.signal,
      onNotification(method, params) {
        if (method.endsWith('acknowledged')) isAcknowledged = true;
        else heard.push(String(params?.['uri'] ?? method.replace('notifications/', '')));
      },
    },
  );
  await until('the subscription is acknowledged', () => isAcknowledged);
  return { heard, end: () => ending.abort() };
}

const uris = ['issue://1', 'issue://2', 'issue://3', 'note://1', 'note://2', 'page://about'];
const all = { resourceSubscriptions: uris, resourcesListChanged: true, toolsListChanged: true };

describe('the change of a resource whose reader filters by the user', () => {
  it('is reported to the subscriber for whom the resource exists, and to no other', async () => {
    const { server } = tracker();
    const ada = await listen(server, { subject: 'ada' }, all);
    const bob = await listen(server, { subject: 'bob' }, all);
    for (const uri of uris) server.changed.resource(uri);
    await until('bob hears of his last note', () => bob.heard.includes('note://2'));
    await until('ada hears of her note', () => ada.heard.includes('note://1'));
    expect([...ada.heard].sort()).toEqual(['issue://1', 'note://1', 'page://about']);
    expect([...bob.heard].sort()).toEqual(['issue://2', 'issue://3', 'note://2', 'page://about']);
    ada.end();
    bob.end();
    await server.close();
  });

  it('costs no read if the contents are public, if the change is addressed, or if the caller is local', async () => {
    const { server, reads } = tracker();
    const ada = await listen(server, { subject: 'ada' }, all);
    const local = await listen(server, undefined, all);
    server.changed.resource('page://about');
    server.changed.resource('issue://1', { to: 'ada' });
    expect(ada.heard).toEqual(['page://about', 'issue://1']);
    expect(local.heard).toEqual(['page://about', 'issue://1']);
    expect(reads).toEqual([]);
    ada.end();
    local.end();
    await server.close();
  });

  it('is read once for many changes at the same time, and reported once more after them', async () => {
    const { server, reads } = tracker();
    const ada = await listen(server, { subject: 'ada' }, all);
    for (let n = 0; n < 100; n++) server.changed.resource('issue://1');
    await until('ada hears of the changes after the first read', () => ada.heard.length === 2);
    expect(reads).toEqual(['ada 1', 'ada 1']);
    ada.end();
    await server.close();
  });

  it('is reported at once although the readers of another definition hang', async () => {
    const { server } = tracker();
    const slow = Array.from({ length: 200 }, (_, at) => `slow://${at}`);
    const bob = await listen(server, { subject: 'bob' }, { resourceSubscriptions: slow });
    const ada = await listen(server, { subject: 'ada' }, all);
    for (const uri of [...slow, 'issue://1']) server.changed.resource(uri);
    await until('ada hears of her issue', () => ada.heard.includes('issue://1'));
    expect(bob.heard).toEqual([]);
    ada.end();
    bob.end();
    await server.close();
  });

  it('is not reported if the reader fails, which the operator learns once', async () => {
    const logged: string[] = [];
    const { server } = tracker({ log: (message) => logged.push(message) });
    const ada = await listen(
      server,
      { subject: 'ada' },
      { resourceSubscriptions: ['broken://1', 'issue://1'] },
    );
    for (let n = 0; n < 3; n++) {
      server.changed.resource('broken://1');
      server.changed.resource('issue://1');
      await until('ada hears of her issue', () => ada.heard.length === n + 1);
    }
    expect(ada.heard).not.toContain('broken://1');
    await until('the operator is told', () => logged.length > 0);
    expect(logged).toEqual([expect.stringContaining('"broken://1" could not be read for a subscriber')]);
    ada.end();
    await server.close();
  });

  it('is not reported to others by a server that the one with the users is mounted in', async () => {
    const { server } = tracker();
    const outer = createServer({
      ...{ name: 'outer', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined },
      mount: { work: server },
    });
    const own = { resourceSubscriptions: ['work+issue://1', 'work+issue://2'] };
    const listed = await inProcess(outer)('resources/templates/list', {});
    expect(JSON.stringify(listed)).toContain('work+issue://{id}');
    const bob = await listen(outer, { subject: 'bob' }, own);
    for (const id of [1, 2]) server.changed.resource(`issue://${id}`);
    await until('bob hears of his issue', () => bob.heard.includes('work+issue://2'));
    server.changed.resource('issue://1', { to: 'ada' });
    server.changed.resource('issue://2', { to: ['ada', 'bob'] });
    await until('bob hears of his issue again', () => bob.heard.length === 2);
    expect(bob.heard).toEqual(['work+issue://2', 'work+issue://2']);
    bob.end();
    await outer.close();
  });

  it('is not reported to others on any wire of either era', async () => {
    const { server } = tracker();
    for (const wire of wires) {
      const client = await testClient(server, {
        over: wire.over,
        revision: wire.revision,
        caller: { subject: 'bob' },
      });
      const heard: string[] = [];
      await client.subscribe(
        { uris: ['issue://1', 'issue://2'] },
        { onChange: (change) => void (change.kind === 'resource' && heard.push(change.uri)) },
      );
      server.changed.resource('issue://1');
      server.changed.resource('issue://2');
      await until(`bob hears of his issue over ${wire.over}`, () => heard.includes('issue://2'));
      server.changed.resource('issue://1', { to: 'ada' });
      server.changed.resource('issue://3', { to: 'bob' });
      server.changed.resource('issue://2', { to: 'bob' });
      await until(`bob hears again over ${wire.over}`, () => heard.length === 2);
      expect(heard).toEqual(['issue://2', 'issue://2']);
      await client.close();
    }
    await server.close();
  });
});

describe('a change that is announced with "to"', () => {
  it('is reported to the callers that it names, by their subject or by their subject and issuer', async () => {
    const { server } = tracker();
    const callers = [{ subject: 'ada' }, { subject: 'ada', issuer: 'https://a' }, { subject: 'bob' }];
    const [plain, issued, bob] = (await Promise.all(
      callers.map((caller) => listen(server, caller, all)),
    )) as [Listening, Listening, Listening];
    server.changed.resource('issue://1', { to: 'ada' });
    server.changed.resources({ to: { subject: 'ada', issuer: 'https://a' } });
    server.changed.tools({ to: ['bob', { subject: 'ada', issuer: 'https://b' }] });
    server.changed.resources({ to: [] });
    expect(plain.heard).toEqual(['issue://1']);
    expect(issued.heard).toEqual(['issue://1', 'resources/list_changed']);
    expect(bob.heard).toEqual(['tools/list_changed']);
    for (const each of [plain, issued, bob]) each.end();
    await server.close();
  });

  it('is refused if it names nobody by mistake, instead of being told to everybody', () => {
    const { server } = tracker();
    for (const to of [undefined, null, '', 7, {}, ['ada', undefined], { subject: 'ada', issuer: 7 }])
      expect(() => server.changed.resource('issue://1', { to: to as never })).toThrow(
        '"to" must name the callers',
      );
  });

  it('can be a listener of events, whose arguments are not options', async () => {
    const { server } = tracker();
    const ada = await listen(server, { subject: 'ada' }, all);
    const onEvent: (event: never) => void = server.changed.tools;
    onEvent({ type: 'change' } as never);
    ['page://about'].forEach(server.changed.resource as never);
    expect(ada.heard).toEqual(['tools/list_changed', 'page://about']);
    ada.end();
    await server.close();
  });

  it('reaches the subscribers of other processes, in messages that every bus can carry', async () => {
    const bus = memoryBus();
    const sent: Record<string, unknown>[] = [];
    const seen: Bus = {
      ...bus,
      publish(topic, message) {
        if (topic.startsWith('changes:')) sent.push(message);
        return bus.publish(topic, message);
      },
    };
    const [one, two] = [tracker({ bus: seen }), tracker({ bus: seen })];
    const ada = await listen(two.server, { subject: 'ada' }, all);
    const bob = await listen(two.server, { subject: 'bob' }, all);
    one.server.changed.resource('issue://1', {
      to: [...Array(300).keys()].map((n) => `caller-${n}`).concat('ada'),
    });
    await until('ada hears of her issue', () => ada.heard.includes('issue://1'));
    one.server.changed.resource('issue://2');
    await until('bob hears of his issue', () => bob.heard.includes('issue://2'));
    expect(bob.heard).toEqual(['issue://2']);
    // A process of an older release tells every subscriber of a message with this kind.
    const addressed = sent.filter((message) => message['to'] !== undefined);
    expect(addressed.length).toBeGreaterThan(1);
    for (const message of addressed) {
      expect(message['kind']).toBe('addressed');
      expect(JSON.stringify(message).length).toBeLessThan(7999);
    }
    ada.end();
    bob.end();
    await Promise.all([one.server.close(), two.server.close()]);
  });
});
