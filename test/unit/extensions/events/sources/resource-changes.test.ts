import {
  createServer,
  DefinitionError,
  event,
  type InProcessOptions,
  inProcess,
  memoryBus,
  memoryStore,
  resource,
  type Store,
  tool,
} from 'fullmcp';
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../../../../support/until.js';

// The changes of resources as events: one change is one event, for those who may know of it.

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Shared {
  readonly store?: Store;
  readonly bus?: ReturnType<typeof memoryBus>;
}

function desk({ store = memoryStore(), bus }: Shared = {}) {
  const logged: string[] = [];
  const server = createServer({
    name: 'desk',
    version: '1',
    store,
    ...(bus && { bus }),
    logger: (_, message) => void logged.push(message),
    resources: {
      'tickets://{queue}/{id}': resource({ read: ({ id }) => id }),
      'salaries://{id}': resource({ scopes: ['payroll'], read: ({ id }) => id }),
    },
    events: {
      ticket_changed: event({
        input: { type: 'object', properties: { queue: { type: 'string' } } },
        resource: 'tickets://{queue}/{id}',
        match: (ticket, { queue }) => queue === undefined || ticket.queue === queue,
      }),
      salary_changed: event({ resource: 'salaries://{id}' }),
      anything_changed: event({ resource: '{+any}' }),
    },
    tools: {
      touch: tool({
        input: { type: 'object', properties: { uri: { type: 'string' } } },
        run: ({ uri }, ctx) => {
          ctx.changed.resource(String(uri));
          return 'touched';
        },
      }),
    },
  });
  closing.push(() => server.close());
  return { server, logged };
}

type Told = readonly { readonly eventId: string; readonly data: Readonly<Record<string, unknown>> }[];

/** Polls a type. Returns the function that returns everything that came since. */
async function follow(
  server: Parameters<typeof inProcess>[0],
  name: string,
  args: object = {},
  options?: InProcessOptions,
): Promise<() => Promise<Told>> {
  const ask = inProcess(server, options);
  let { cursor } = await ask('events/poll', { name, arguments: args });
  const told: Told[number][] = [];
  return async () => {
    const page = await ask('events/poll', { name, arguments: args, cursor });
    cursor = page['cursor'];
    told.push(...(page['events'] as Told));
    return told;
  };
}

const uris = (told: Told): readonly unknown[] => told.map(({ data }) => data['uri']);

describe('A change of a resource', () => {
  test('is one event of each type that has its URI, with the variables of the template', async () => {
    const { server } = desk();
    const [tickets, billing, anything] = [
      await follow(server, 'ticket_changed'),
      await follow(server, 'ticket_changed', { queue: 'billing' }),
      await follow(server, 'anything_changed'),
    ];
    server.changed.resource('tickets://sales/1');
    server.changed.resource('tickets://billing/2');
    server.changed.resource('other://3');
    server.changed.tools();
    await until('the events are kept', async () => (await anything()).length === 3);
    expect(uris(await tickets())).toEqual(['tickets://sales/1', 'tickets://billing/2']);
    expect((await billing()).map(({ data }) => data)).toEqual([
      { uri: 'tickets://billing/2', queue: 'billing', id: '2' },
    ]);
    expect(uris(await anything())).toEqual(['tickets://sales/1', 'tickets://billing/2', 'other://3']);
    expect(new Set((await anything()).map(({ eventId }) => eventId)).size).toBe(3);
  });

  test('is kept before the response of the handler that announced it', async () => {
    const { server } = desk();
    const tickets = await follow(server, 'ticket_changed');
    await inProcess(server)('tools/call', { name: 'touch', arguments: { uri: 'tickets://sales/7' } });
    expect(uris(await tickets())).toEqual(['tickets://sales/7']);
  });

  test('is one event, however many processes hear of it', async () => {
    const [store, bus] = [memoryStore(), memoryBus()];
    const desks = [desk({ store, bus }), desk({ store, bus }), desk({ store, bus })];
    const heard: string[] = [];
    await bus.subscribe('changes:desk', {
      message: (message) => void heard.push(JSON.stringify(message)),
      gap: () => undefined,
    });
    await Promise.all(desks.map(({ server }) => server.start()));
    const polls = await Promise.all(desks.map(({ server }) => follow(server, 'ticket_changed')));
    for (const [at, { server }] of desks.entries()) server.changed.resource(`tickets://sales/${at}`);
    for (const poll of polls) await until('all are told', async () => (await poll()).length === 3);
    await until('everybody has heard of it', () => heard.length === 3);
    const told = await Promise.all(polls.map((poll) => poll()));
    expect(new Set(told.flat().map(({ eventId }) => eventId)).size).toBe(3);
    for (const each of told) expect([...uris(each)].sort()).toEqual(uris(told[0] as Told).toSorted());
  });

  test('is told only to callers that may know of the resource', async () => {
    const { server } = desk();
    const caller = (subject: string, scopes: readonly string[] = []): InProcessOptions => ({
      caller: { subject, scopes },
    });
    const [ada, eve, local] = [
      await follow(server, 'salary_changed', {}, caller('ada', ['payroll'])),
      await follow(server, 'salary_changed', {}, caller('eve')),
      await follow(server, 'salary_changed'),
    ];
    server.changed.resource('salaries://1');
    await until('the event is kept', async () => (await local()).length === 1);
    expect(uris(await ada())).toEqual(['salaries://1']);
    expect(await eve()).toEqual([]);
  });

  test('that is announced to some callers is an event for them alone, and names none of them', async () => {
    const { server } = desk();
    const poll = (subject: string) =>
      follow(server, 'ticket_changed', {}, { caller: { subject, issuer: 'https://i.example' } });
    const [ada, bob, eve, local] = [
      await poll('ada'),
      await poll('bob'),
      await poll('eve'),
      await follow(server, 'ticket_changed'),
    ];
    const many = Array.from({ length: 300 }, (_, at) => `employee-${at}`);
    server.changed.resource('tickets://sales/1', {
      to: [...many, 'ada', { subject: 'bob', issuer: 'other' }],
    });
    await until('the event is kept', async () => (await local()).length > 0);
    expect(uris(await ada())).toEqual(['tickets://sales/1']);
    expect([await bob(), await eve()]).toEqual([[], []]);
    // The message of the change has several parts. The event is one.
    expect(await local()).toHaveLength(1);
    expect(JSON.stringify(await local())).not.toContain('ada');
  });

  test('is kept under one id although the store fails, or loses a reply', async () => {
    const memory = memoryStore();
    let failures = 0;
    const store: Store = {
      ...bound(memory),
      async write(changes, options) {
        const isEvent = changes.some(
          (change) => change.do === 'append' && change.list.startsWith('event-log'),
        );
        if (isEvent && failures++ < 4) {
          if (failures % 2 === 0) await memory.write(changes, options);
          throw new Error('The store is gone');
        }
        return memory.write(changes, options);
      },
    };
    const { server, logged } = desk({ store });
    const tickets = await follow(server, 'ticket_changed');
    for (const id of [1, 2, 3]) server.changed.resource(`tickets://sales/${id}`);
    await until('all are told', async () => (await tickets()).length === 3);
    await server.close();
    expect(failures).toBeGreaterThan(2);
    expect(uris(await tickets()).toSorted()).toEqual([1, 2, 3].map((id) => `tickets://sales/${id}`));
    expect(logged.join()).toMatch(/could not be kept as events\. The server retries/);
  });

  test('that the store does not keep in time is given up at the end, and the log says so', async () => {
    const memory = memoryStore();
    const store: Store = { ...bound(memory), write: () => Promise.reject(new Error('The store is gone')) };
    const { server, logged } = desk({ store });
    server.changed.resource('tickets://sales/1');
    await until('the failure is logged', () => logged.some((line) => line.includes('retries')));
    await server.close();
    expect(logged.at(-1)).toMatch(/could not be kept as events\. They are lost/);
  });
});

function bound(store: Store): Store {
  return {
    get: (key) => store.get(key),
    page: (prefix, options) => store.page(prefix, options),
    items: (list, options) => store.items(list, options),
    write: (changes, options) => store.write(changes, options),
    claim: (queue, options) => store.claim(queue, options),
    renew: (leases, ms) => store.renew(leases, ms),
    size: (queue) => store.size(queue),
    close: () => store.close(),
  };
}

test('The list of types has the schema that follows from the template', async () => {
  const { server } = desk();
  const { events } = await inProcess(server)('events/list', {});
  expect(events).toContainEqual(
    expect.objectContaining({
      name: 'ticket_changed',
      payloadSchema: expect.objectContaining({
        type: 'object',
        properties: { uri: { type: 'string' }, queue: { type: 'string' }, id: { type: 'string' } },
        required: ['uri', 'queue', 'id'],
      }),
    }),
  );
});

test('A type of changes that is wrong is named when the server is made', () => {
  const make = (options: object) => () =>
    createServer({ name: 'a', version: '1', events: { changed: event(options as never) } });
  expect(make({ resource: 'tickets://{id' })).toThrow(DefinitionError);
  expect(make({ resource: 'tickets' })).toThrow(/"resource" must be an absolute URI/);
  expect(make({ resource: 'x://{uri}' })).toThrow(/has the name "uri"/);
  expect(make({ resource: 'x://{a}', payload: { type: 'object' } })).toThrow(/leave out "payload"/);
  expect(make({ resource: 7 })).toThrow(/"resource" must be a string/);
  expect(make({})).toThrow(/it has no "payload"/);
  expect(make({ uri: 'x://{a}' })).toThrow(/resource/);
});
