import { createServer, event, type JsonObject } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { modern, modernStream } from '../../support/http/modern.js';
import { messagesOf, type Streamed } from './desk.js';

const payload = z.object({ team: z.string() });
const ADA = 'ada';
const EVE = 'eve';

/** A server whose events only some callers get. The callers that `allow` accepts can be changed. */
async function guarded() {
  const allowed = new Set(['ada']);
  const server = createServer({
    name: 'guarded',
    version: '1',
    logger: () => undefined,
    events: {
      open: event({ payload }),
      scoped: event({ payload, scopes: ['news'] }),
      chosen: event({
        payload,
        input: z.object({ team: z.string().default('blue') }),
        allow: (auth, args) => allowed.has(auth?.subject ?? '') && args?.team !== 'red',
      }),
      broken: event({
        payload,
        match: () => {
          throw new Error('match fails');
        },
      }),
    },
  });
  const served = await serve(server, {
    port: 0,
    signals: false,
    auth: ({ headers }) => ({
      subject: String(headers['x-user']),
      scopes: headers['x-user'] === ADA ? ['news'] : [],
    }),
  });
  const url = String(served.url);
  const as = (key: string) => ({ headers: { 'x-user': key } });
  const ask = async (key: string, method: string, params: Record<string, unknown> = {}) => {
    const { status, text } = await modern(url, method, params, as(key));
    return {
      status,
      ...(JSON.parse(text) as { result?: JsonObject; error?: { code: number; data?: JsonObject } }),
    };
  };
  return {
    server,
    allowed,
    ask,
    stream: async (key: string, params: Record<string, unknown>) =>
      messagesOf(await modernStream(url, 'events/stream', params, as(key))),
    close: () => served.close(),
  };
}

describe('Events that have rules', () => {
  test('are listed only for those that may subscribe (authz-subscribe-time)', async () => {
    const { ask, close } = await guarded();
    const names = async (key: string) => {
      const { result } = await ask(key, 'events/list');
      return (result as { events: JsonObject[] }).events.map(({ name }) => name);
    };
    expect(await names(ADA)).toEqual(['open', 'scoped', 'chosen', 'broken']);
    expect(await names(EVE)).toEqual(['open', 'broken']);
    await close();
  });

  test('do not exist for a caller that allow refuses, and need scopes of one that lacks them', async () => {
    const { ask, close } = await guarded();
    expect((await ask(EVE, 'events/poll', { name: 'chosen' })).error).toMatchObject({ code: -32011 });
    const scoped = await ask(EVE, 'events/poll', { name: 'scoped' });
    expect(scoped).toMatchObject({ status: 403, error: { code: -32012 } });
    expect((await ask(ADA, 'events/poll', { name: 'scoped' })).result).toBeDefined();
    await close();
  });

  test('are forbidden with arguments that allow refuses (error-forbidden)', async () => {
    const { ask, close } = await guarded();
    const red = await ask(ADA, 'events/poll', { name: 'chosen', arguments: { team: 'red' } });
    expect(red).toMatchObject({ status: 200, error: { code: -32012, data: { reason: 'not_allowed' } } });
    expect((await ask(ADA, 'events/poll', { name: 'chosen' })).result).toBeDefined();
    await close();
  });

  test('end a stream whose caller has lost its rights, before the next event (authz-delivery-time-reverify)', async () => {
    const { server, allowed, stream, close } = await guarded();
    const open = await stream(ADA, { name: 'chosen' });
    expect(((await open.next()) as Streamed).method).toBe('notifications/events/active');
    await server.emit('chosen', { team: 'blue' });
    expect(((await open.next()) as Streamed).method).toBe('notifications/events/event');
    allowed.clear();
    await server.emit('chosen', { team: 'blue' });
    expect(await open.next()).toMatchObject({
      method: 'notifications/events/terminated',
      params: { error: { code: -32012, data: { reason: 'access_lost' } } },
    });
    expect(((await open.next()) as Streamed).result).toBeDefined();
    await close();
  });

  test('are not delivered if match fails, and the cursor goes on', async () => {
    const { server, ask, close } = await guarded();
    const { result } = await ask(EVE, 'events/poll', { name: 'broken' });
    await server.emit('broken', { team: 'blue' });
    const next = await ask(EVE, 'events/poll', { name: 'broken', cursor: result?.['cursor'] });
    expect(next.result).toMatchObject({ events: [], truncated: false });
    expect(next.result?.['cursor']).not.toBe(result?.['cursor']);
    await close();
  });

  test('go on for subscribers when the schema only grows, and end for them when it breaks (schema-evolution-additive, removal-error-schema-changed)', async () => {
    const { server, stream, close } = await guarded();
    const define = (fields: z.ZodRawShape) => server.event('growing', event({ payload: z.object(fields) }));
    const first = define({ team: z.string() });
    const open = await stream(ADA, { name: 'growing' });
    await open.next();
    first.remove();
    const second = define({ team: z.string(), size: z.number().optional() });
    await server.emit('growing' as never, { team: 'blue', size: 3 } as never);
    expect(await open.next()).toMatchObject({ params: { data: { team: 'blue', size: 3 } } });
    second.remove();
    define({ team: z.number() });
    expect(await open.next()).toMatchObject({
      method: 'notifications/events/terminated',
      params: { error: { code: -32014, data: { feature: 'payloadSchema', reason: 'schema_changed' } } },
    });
    await close();
  });
});
