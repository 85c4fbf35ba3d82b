import { createServer, event, type JsonObject, memoryStore, type Store, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { makeDesk } from '../../../flows/events/desk.js';
import { soon } from '../../../support/until.js';

const open: { close(): Promise<void> }[] = [];
function desk(store?: Store): ReturnType<typeof makeDesk> {
  const server = makeDesk(store && { store });
  open.push(server);
  return server;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** Polls a type from now on. Returns the function that polls what came since. */
async function poller(
  server: { dispatch: ReturnType<typeof makeDesk>['dispatch'] },
  name: string,
): Promise<() => Promise<readonly JsonObject[]>> {
  const poll = async (cursor?: unknown) => {
    const outcome = await server.dispatch({
      id: 1,
      method: 'events/poll',
      params: { name, cursor, maxEvents: 100 },
      peer: { revision: '2026-07-28', client: undefined, capabilities: {}, logLevel: undefined },
      signal: new AbortController().signal,
      notify: () => undefined,
    });
    return outcome as unknown as { cursor: string; events: readonly JsonObject[]; hasMore: boolean };
  };
  let { cursor } = await poll(null);
  return async () => {
    const events: JsonObject[] = [];
    for (;;) {
      const page = await poll(cursor);
      cursor = page.cursor;
      events.push(...page.events);
      if (!page.hasMore) return events;
    }
  };
}

describe('emit', () => {
  test('resolves with the id, and tells an id once', async () => {
    const server = desk();
    const poll = await poller(server, 'polled');
    expect(await server.emit('polled', { id: 'a' }, { eventId: 'row-1' })).toEqual({
      eventId: 'row-1',
      isNew: true,
    });
    expect(await server.emit('polled', { id: 'b' }, { eventId: 'row-1' })).toEqual({
      eventId: 'row-1',
      isNew: false,
    });
    expect((await poll()).map(({ data }) => data)).toEqual([{ id: 'a' }]);
  });

  test('resolves whenever it is called while the event before is being kept', async () => {
    const server = desk();
    for (let ticks = 0; ticks < 100; ticks++) {
      const first = server.emit('polled', { id: `first ${ticks}` });
      for (let tick = 0; tick < ticks; tick++) await undefined;
      await soon(`the event after ${ticks} ticks`, server.emit('polled', { id: `second ${ticks}` }), 5000);
      await first;
    }
  });

  test('gives an id that a header or a signature cannot carry the same digest each time', async () => {
    const server = desk();
    const poll = await poller(server, 'polled');
    const odd = ['a.b', 'with space', 'zeilen\numbruch', 'é', 'x'.repeat(129), '\ud800', '\ud801'];
    for (const eventId of [...odd, ...odd])
      await server.emit('polled', { id: eventId.length.toString() }, { eventId });
    const ids = (await poll()).map(({ eventId }) => String(eventId));
    expect(new Set(ids).size).toBe(odd.length);
    expect(ids.length).toBe(odd.length);
    for (const id of ids) expect(id).toMatch(/^evt_[\w-]{43}$/);
    for (const eventId of ['__proto__', 'x'.repeat(128), '~!@#$%^&*()'])
      expect((await server.emit('polled', { id: '1' }, { eventId })).eventId).toBe(eventId);
  });

  test('keeps the order of the calls, also of many that wait at the same time', async () => {
    const server = desk();
    const poll = await poller(server, 'polled');
    await Promise.all(Array.from({ length: 700 }, (_, n) => server.emit('polled', { id: String(n) })));
    expect((await poll()).map(({ data }) => Number((data as JsonObject)['id']))).toEqual(
      Array.from({ length: 700 }, (_, n) => n),
    );
  });

  test('writes the events of many calls together', async () => {
    const store = memoryStore();
    let writes = 0;
    const server = desk({
      ...store,
      write: (...args) => {
        writes++;
        return store.write(...args);
      },
    });
    await server.emit('polled', { id: 'first' });
    writes = 0;
    await Promise.all(Array.from({ length: 100 }, (_, n) => server.emit('polled', { id: String(n) })));
    expect(writes).toBeLessThan(10);
  });

  test.each([
    [
      'a type that the server does not have',
      'nothing',
      { id: 'a' },
      {},
      'has no events of the type "nothing"',
    ],
    ['data that does not fit', 'polled', { id: 5 }, {}, 'does not fit its payload'],
    ['data that is not an object', 'polled', ['a'], {}, 'must be an object'],
    ['data that JSON cannot carry', 'polled', { id: 'a', at: 1n }, {}, 'cannot be sent'],
    ['an empty id', 'polled', { id: 'a' }, { eventId: '' }, '"eventId"'],
    ['a time without a zone', 'polled', { id: 'a' }, { timestamp: '2026-11-18T12:00:00' }, '"timestamp"'],
    ['a time that is none', 'polled', { id: 'a' }, { timestamp: new Date(Number.NaN) }, '"timestamp"'],
    ['too much', 'polled', { id: 'x'.repeat(262_144) }, {}, 'may have 262144'],
  ])('rejects %s', async (_what, name, data, options, message) => {
    const server = desk();
    const poll = await poller(server, 'polled');
    await expect(server.emit(name as 'polled', data as { id: string }, options)).rejects.toThrow(message);
    expect(await poll()).toEqual([]);
  });

  test('accepts as much as a webhook may carry, and no level of nesting that a peer would refuse', async () => {
    const server = createServer({
      name: 'any',
      version: '1',
      events: { any: event({ payload: { type: 'object' } }) },
    });
    open.push(server);
    const poll = await poller(server, 'any');
    await server.emit('any', { text: 'x'.repeat(261_900) }, { eventId: 'large' });
    const nest = (levels: number): JsonObject => (levels === 0 ? {} : { a: nest(levels - 1) });
    await server.emit('any', nest(100), { eventId: 'deep' });
    await expect(server.emit('any', nest(200), { eventId: 'deeper' })).rejects.toThrow('nested too deeply');
    const hostile = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":2}}') as JsonObject;
    await server.emit('any', hostile, { eventId: 'hostile' });
    const events = await poll();
    expect(events.map(({ eventId }) => eventId)).toEqual(['large', 'deep', 'hostile']);
    expect(JSON.stringify(events[2]?.['data'])).toBe(JSON.stringify(hostile));
    expect(({} as JsonObject)['polluted']).toBeUndefined();
  });

  test('takes the data as it is when it is called', async () => {
    const server = desk();
    const poll = await poller(server, 'polled');
    const data = { id: 'before' };
    const emitting = server.emit('polled', data);
    data.id = 'after';
    await emitting;
    expect((await poll()).map((each) => each['data'])).toEqual([{ id: 'before' }]);
  });

  test('rejects if the store fails, names the id, and can be repeated', async () => {
    const store = memoryStore();
    let isBroken = false;
    const server = desk({
      ...store,
      write: async (...args) => {
        const written = await store.write(...args);
        if (isBroken) throw new Error('The reply was lost');
        return written;
      },
    });
    const poll = await poller(server, 'polled');
    isBroken = true;
    const failure = await server
      .emit('polled', { id: 'a' }, { eventId: 'row-1' })
      .catch((error: Error) => error);
    expect((failure as Error).message).toMatch(/may not have the event "row-1".*The reply was lost/);
    isBroken = false;
    expect(await server.emit('polled', { id: 'a' }, { eventId: 'row-1' })).toEqual({
      eventId: 'row-1',
      isNew: false,
    });
    expect((await poll()).length).toBe(1);
  });

  test('in a step has an id that follows from the step, so that a step that runs again tells nothing twice', async () => {
    let runs = 0;
    const server = createServer({
      name: 'steps',
      version: '1',
      events: { done: event({ payload: z.object({ n: z.number() }) }) },
      tools: {
        work: tool({
          run: (_input, ctx) =>
            ctx.step('tell', async (step) => {
              runs++;
              const first = await step.emit('done', { n: 1 });
              const second = await step.emit('done', { n: 2 });
              const again = await ctx.emit('done', { n: 1 }, { eventId: `${step.idempotencyKey}.0` });
              return { ids: [first.eventId, second.eventId], isNew: again.isNew };
            }),
        }),
      },
    });
    open.push(server);
    const poll = await poller(server, 'done');
    const client = await connect(server);
    const result = await client.callTool('work');
    expect(result.isError).not.toBe(true);
    await client.close();
    const events = await poll();
    expect(runs).toBe(1);
    expect(JSON.parse((result.content[0] as { text: string }).text)).toEqual({
      ids: events.map(({ eventId }) => eventId),
      isNew: false,
    });
    expect(events.map(({ data }) => data)).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

describe('Definitions of events', () => {
  test('have all their mistakes reported at once', () => {
    const make = () =>
      createServer({
        name: 'wrong',
        version: '1',
        events: {
          'no spaces': event({ payload: z.object({}) }),
          list: event({ payload: z.array(z.string()) as never }),
          modes: event({ payload: z.object({}), delivery: ['push', 'push'] }),
          none: event({ payload: z.object({}), delivery: [] }),
          match: event({ payload: z.object({}), match: 'all' as never }),
          missing: event({} as never),
          scope: event({ payload: z.object({}), scopes: ['two words'] }),
          foreign: event({ payload: z.object({}), payloadSchema: {} } as never),
          input: event({ payload: z.object({}), input: z.string() as never }),
          other: tool({ run: () => 'x' }) as never,
        },
      });
    const problems = (() => {
      try {
        make();
        return [];
      } catch (error) {
        return (error as { problems: readonly string[] }).problems;
      }
    })();
    const names = [
      'no spaces',
      'list',
      'modes',
      'none',
      'match',
      'missing',
      'scope',
      'foreign',
      'input',
      'other',
    ];
    for (const name of names)
      expect(problems.filter((line) => line.startsWith(`event "${name}"`)).length).toBeGreaterThan(0);
  });

  test('a method of the program may have the name of one of ours, if the server has no events', async () => {
    const server = createServer({
      name: 'own',
      version: '1',
      methods: { 'events/list': { run: () => ({ own: true }) } },
    });
    open.push(server);
    const outcome = await server.dispatch({
      id: 1,
      method: 'events/list',
      params: {},
      peer: { revision: '2026-07-28', client: undefined, capabilities: {}, logLevel: undefined },
      signal: new AbortController().signal,
      notify: () => undefined,
    });
    expect(outcome['own']).toBe(true);
  });
});
