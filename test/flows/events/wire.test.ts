import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { definitions, makeDesk, type ServedDesk, serveDesk } from './desk.js';

// The checks of the draft scenarios `events-discovery` and `events-poll`, over real HTTP. Their names are in the tests.

const META = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/events': {} } },
};

let desk: ServedDesk;
beforeAll(async () => {
  desk = await serveDesk();
});
afterAll(() => desk.close());

describe('Events are discovered', () => {
  test('in both places of the capabilities (events-capability-events-object, -list-changed-flag)', async () => {
    const { result } = await desk.ask('server/discover');
    expect(result.capabilities.events).toEqual({});
    expect(result.capabilities.extensions['io.modelcontextprotocol/events']).toEqual({});
    const changing = await serveDesk({}, makeDesk({ changes: true }));
    const { result: other } = await changing.ask('server/discover');
    expect(other.capabilities.events).toEqual({ listChanged: true });
    expect(other.capabilities.extensions['io.modelcontextprotocol/events']).toEqual({ listChanged: true });
    await changing.close();
  });

  test('as a list of types with their schemas (list-implemented, descriptor-*)', async () => {
    const { result } = await desk.ask('events/list');
    expect(result.resultType).toBe('complete');
    expect(result.events.map(({ name }: { name: string }) => name)).toEqual(Object.keys(definitions));
    expect(result.events[0]).toMatchObject({
      name: 'ticket_changed',
      description: 'A ticket changed',
      delivery: ['push', 'poll'],
      inputSchema: { type: 'object', properties: { queue: { type: 'string' } } },
      payloadSchema: { type: 'object', properties: { id: { type: 'string' } } },
    });
    expect(result.events[1].delivery).toEqual(['push']);
    expect(result.events[2]).toMatchObject({ delivery: ['poll'], _meta: { 'acme/x': 1 } });
    expect(Object.keys(result).sort()).toEqual(['_meta', 'events', 'resultType']);
  });

  test('page by page (list-pagination)', async () => {
    const paged = await serveDesk({ pageSize: 2 });
    const first = await paged.ask('events/list', {});
    expect(first.result.events.length).toBe(2);
    const second = await paged.ask('events/list', { cursor: first.result.nextCursor });
    expect(second.result.events.length).toBe(1);
    expect(second.result.nextCursor).toBeUndefined();
    await paged.close();
  });

  test('and a type that is unknown has an error in the dialect of the client (error-not-found, error-server-range)', async () => {
    const sketch = await desk.ask('events/poll', { name: 'nothing' });
    expect(sketch).toMatchObject({ status: 200, error: { code: -32011, data: { kind: 'event' } } });
    const sep = await desk.ask('events/poll', { name: 'nothing' }, { meta: META });
    expect(sep).toMatchObject({ status: 200, error: { code: -32023, data: { kind: 'event' } } });
  });
});

describe('A poll', () => {
  test('without a cursor, with null or with none, begins now (cursor-null-starts-from-now, cursor-absent-equals-null)', async () => {
    await desk.server.emit('ticket_changed', { id: 'before' });
    for (const params of [{}, { cursor: null }, { cursor: null, maxAgeMs: 60_000 }]) {
      const result = await desk.poll({ name: 'ticket_changed', ...params });
      expect(result).toMatchObject({ events: [], truncated: false, hasMore: false });
      expect(typeof result.cursor).toBe('string');
      expect(typeof result.nextPollMs).toBe('number');
    }
  });

  test('returns what came after its cursor, in order, as occurrences (occurrence-*)', async () => {
    const { cursor } = await desk.poll({ name: 'ticket_changed' });
    const timestamp = '2026-11-18T10:00:00+02:00';
    await desk.server.emit(
      'ticket_changed',
      { id: 'a' },
      { eventId: 'row-1', timestamp, meta: { 'acme/y': 2 } },
    );
    await desk.server.emit('ticket_changed', { id: 'b' });
    const { result } = await desk.ask('events/poll', { name: 'ticket_changed', cursor });
    expect(result.events[0]).toEqual({
      eventId: 'row-1',
      name: 'ticket_changed',
      timestamp: '2026-11-18T08:00:00.000Z',
      data: { id: 'a' },
      cursor: expect.any(String),
      _meta: { 'acme/y': 2 },
    });
    expect(result.events[1]).toMatchObject({
      data: { id: 'b' },
      eventId: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
    });
    expect(result).toMatchObject({ resultType: 'complete', truncated: false, hasMore: false });
    const rest = await desk.poll({ name: 'ticket_changed', cursor: result.events[0].cursor });
    expect(rest.events.map(({ data }) => data.id)).toEqual(['b']);
    expect(rest.cursor).toBe(result.cursor);
    const quiet = await desk.poll({ name: 'ticket_changed', cursor: rest.cursor });
    expect(quiet).toMatchObject({ events: [], hasMore: false, truncated: false, cursor: rest.cursor });
  });

  test('returns at most maxEvents, and says that there are more (poll-max-events-cap, has-more)', async () => {
    const { cursor } = await desk.poll({ name: 'polled' });
    await Promise.all(['a', 'b', 'c'].map((id) => desk.server.emit('polled', { id })));
    const seen: string[] = [];
    let at = cursor;
    for (let n = 0; n < 3; n++) {
      const page = await desk.poll({ name: 'polled', cursor: at, maxEvents: 1 });
      expect(page.events.length).toBe(1);
      expect(page.hasMore).toBe(n < 2);
      seen.push(...page.events.map(({ data }) => data.id));
      at = page.cursor;
    }
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  test('gets only the events that match its arguments, and its cursor advances past the others (cursor-advances-when-quiet)', async () => {
    const { cursor } = await desk.poll({ name: 'ticket_changed', arguments: { queue: 'billing' } });
    for (const queue of ['sales', 'billing', 'sales'])
      await desk.server.emit('ticket_changed', { id: queue, queue });
    const page = await desk.poll({ name: 'ticket_changed', arguments: { queue: 'billing' }, cursor });
    expect(page.events.map(({ data }) => data.id)).toEqual(['billing']);
    const next = await desk.poll({
      name: 'ticket_changed',
      arguments: { queue: 'billing' },
      cursor: page.cursor,
    });
    expect(next.cursor).toBe(page.cursor);
    await desk.server.emit('ticket_changed', { id: 'x', queue: 'sales' });
    const quiet = await desk.poll({
      name: 'ticket_changed',
      arguments: { queue: 'billing' },
      cursor: page.cursor,
    });
    expect(quiet.events).toEqual([]);
    expect(quiet.cursor).not.toBe(page.cursor);
  });

  test.each([
    ['no name (poll-one-subscription-per-request)', {}, -32602],
    ['a name of another type', { name: 7 }, -32602],
    [
      'arguments that do not fit (poll-invalid-arguments)',
      { name: 'ticket_changed', arguments: { queue: 5 } },
      -32602,
    ],
    ['arguments that are not an object', { name: 'ticket_changed', arguments: [] }, -32602],
    ['a cursor that is not a string', { name: 'ticket_changed', cursor: 5 }, -32602],
    ['maxEvents of 0', { name: 'ticket_changed', maxEvents: 0 }, -32602],
    ['a negative maxAgeMs', { name: 'ticket_changed', cursor: 'x', maxAgeMs: -1 }, -32602],
    ['a type that is not polled (poll-mode-unsupported)', { name: 'pushed' }, -32014],
  ])('with %s is an error', async (_what, params, code) => {
    const { status, error, result } = await desk.ask('events/poll', params);
    expect(result).toBeUndefined();
    expect({ status, code: error?.code }).toEqual({ status: 200, code });
  });

  test('with a cursor that is unknown or foreign is truncated, never an error (truncated-poll-never-an-error)', async () => {
    const foreign = (await desk.poll({ name: 'polled' })).cursor;
    for (const cursor of ['nonsense', '', foreign, '__proto__']) {
      const page = await desk.poll({ name: 'ticket_changed', cursor });
      expect(page).toMatchObject({ events: [], truncated: true, hasMore: false });
      const next = await desk.poll({ name: 'ticket_changed', cursor: page.cursor });
      expect(next.truncated).toBe(false);
    }
  });

  test('with maxAgeMs begins at the later of both places (max-age-ms-floor, max-age-ms-sets-truncated)', async () => {
    const { cursor } = await desk.poll({ name: 'polled' });
    await desk.server.emit('polled', { id: 'old' }, { timestamp: new Date(Date.now() - 3_600_000) });
    await desk.server.emit('polled', { id: 'new' });
    const page = await desk.poll({ name: 'polled', cursor, maxAgeMs: 60_000 });
    expect(page.events.map(({ data }) => data.id)).toEqual(['new']);
    expect(page.truncated).toBe(true);
    const young = await desk.poll({ name: 'polled', cursor, maxAgeMs: 7_200_000 });
    expect(young).toMatchObject({
      truncated: false,
      events: [{ data: { id: 'old' } }, { data: { id: 'new' } }],
    });
  });

  test('is not answered for a type that was removed (removal-poll-not-found)', async () => {
    const registration = desk.server.event('short_lived', definitions.polled);
    const { cursor } = await desk.poll({ name: 'short_lived' });
    registration.remove();
    const { error } = await desk.ask('events/poll', { name: 'short_lived', cursor });
    expect(error).toMatchObject({ code: -32011, data: { kind: 'event' } });
  });
});
