import { once } from 'node:events';
import { bearer } from 'fullmcp/auth';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Events, openEvents } from '../../support/http/http.js';
import { modern, modernMessage, modernStream } from '../../support/http/modern.js';
import { openSession, sessionClient } from '../../support/http/sessions.js';
import { endWaiting, transports } from '../../support/oauth/protected-server.js';
import { soon } from '../../support/until.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  endWaiting();
  for (const close of closing.splice(0).reverse()) await close();
});

// The token says for how many milliseconds it is valid, from its first use.
const expiries = new Map<string, number>();
const provider = bearer((token) => {
  const [ms, subject = ''] = token.split('.');
  if (!expiries.has(token)) expiries.set(token, Date.now() + Number(ms));
  return { subject, expiresAt: expiries.get(token) ?? 0 };
});
let count = 0;
const header = (ms: number, subject = 'ann'): { authorization: string } => ({
  authorization: `Bearer ${ms}.${subject}.${count++}`,
});
const forever = (): { authorization: string } => header(2 ** 50);

const rest = (events: Events) => soon('the end of the stream', events.rest());

describe.each(['serve', 'createHandler', 'createPlugin'])('A token that expires, with %s,', (name) => {
  async function started(): Promise<string> {
    const start = transports[name];
    if (start === undefined) throw new Error(name);
    const running = await start(provider);
    closing.push(running.close);
    return running.url;
  }

  it('ends a subscription with its result', async () => {
    const url = await started();
    const params = { notifications: { toolsListChanged: true } };
    const events = await modernStream(url, 'subscriptions/listen', params, { headers: header(400) });
    expect(events.status).toBe(200);
    const last = (await rest(events)).at(-1);
    expect(JSON.parse(String(last?.data))).toMatchObject({ id: 1, result: {} });
  });

  it('ends the stream of a call with an error, even if its handler ignores its signal', async () => {
    const url = await started();
    const options = { headers: header(400), meta: { progressToken: 'p' } };
    const events = await modernStream(url, 'tools/call', { name: 'wait' }, options);
    const last = (await rest(events)).at(-1);
    expect(JSON.parse(String(last?.data))).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining('have expired') },
    });
  });

  it('ends the GET stream of a session, which its client can open again with another token', async () => {
    const url = await started();
    const { id } = await openSession(url, '2025-11-25', {}, forever());
    const session = sessionClient(url, id);
    const events = await session.get(header(400));
    expect(events.status).toBe(200);
    await rest(events);
    const again = await session.get(forever());
    expect(again.status).toBe(200);
    again.drop();
  });

  it('ends the stream of a call of a session, which its client can resume with another token', async () => {
    const url = await started();
    const { id, headers } = await openSession(url, '2025-11-25', {}, forever());
    const body = {
      jsonrpc: '2.0',
      id: 5,
      method: 'tools/call',
      params: { name: 'wait', _meta: { progressToken: 'p' } },
    };
    const events = await openEvents(url, {
      headers: { ...headers, ...header(400) },
      body: JSON.stringify(body),
    });
    const last = (await rest(events)).at(-1);
    const session = sessionClient(url, id);
    const resume = { 'last-event-id': String(last?.id) };
    const resumed = await session.get({ ...resume, ...forever() });
    expect(resumed.status).toBe(200);
    resumed.drop();
    const stolen = await session.get({ ...resume, ...header(60_000, 'bob') });
    expect(stolen.status).toBe(404);
    const expired = header(1);
    await modern(url, 'tools/list', {}, { headers: expired });
    const late = await soon(
      'a refusal',
      (async () => {
        for (;;) {
          const reply = await session.get({ ...resume, ...expired });
          if (reply.status === 401) return reply;
          reply.drop();
        }
      })(),
    );
    expect(late.headers['www-authenticate']).toContain('error="invalid_token"');
  });

  it('ends the stream of HTTP+SSE', async () => {
    const url = await started();
    const events = await openEvents(url.replace('/mcp', '/sse'), { method: 'GET', headers: header(400) });
    expect((await events.next())?.event).toBe('endpoint');
    await rest(events);
  });

  it('does not end a stream at once whose token expires in a time that no timer can wait for', async () => {
    const url = await started();
    const params = { notifications: { toolsListChanged: true } };
    const events = await modernStream(url, 'subscriptions/listen', params, { headers: forever() });
    await events.next();
    const other = await modernStream(url, 'subscriptions/listen', params, { headers: header(300) });
    await rest(other);
    let hasEnded = false;
    const watching = events.next().then(
      (event) => {
        hasEnded = event === undefined;
      },
      () => undefined,
    );
    await modern(url, 'tools/list', {}, { headers: forever() });
    expect(hasEnded).toBe(false);
    events.drop();
    await watching;
  });
});

describe('A token that expires', () => {
  it('closes its WebSocket with a reason, even while a call is open', async () => {
    const running = await transports['serve']?.(provider);
    if (running === undefined) throw new Error('serve');
    closing.push(running.close);
    const socket = new WebSocket(running.url.replace('http', 'ws'), { headers: header(500) });
    await once(socket, 'open');
    socket.send(JSON.stringify(modernMessage('tools/call', { name: 'wait' }, { id: 3 })));
    const [code, reason] = await soon('the end of the socket', once(socket, 'close'));
    expect([code, String(reason)]).toEqual([3000, 'The token has expired']);
  });

  it('is refused when it has expired before the request', async () => {
    const running = await transports['serve']?.(
      bearer(() => ({ subject: 'ann', expiresAt: Date.now() - 1 })),
    );
    if (running === undefined) throw new Error('serve');
    closing.push(running.close);
    const reply = await modern(running.url, 'tools/list', {}, { headers: header(1) });
    expect([reply.status, reply.headers['www-authenticate']]).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The token has expired."',
    ]);
  });
});
