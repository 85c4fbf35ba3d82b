import { McpError } from 'fullmcp';
import { afterEach, describe, expect, it } from 'vitest';
import type { Exchange, OutgoingRequest } from '../../../../src/transports/client/exchange.js';
import { until } from '../../../support/until.js';
import { closeLinks, linkOver, type Message, serverAnswer } from '../../../support/wires/session-links.js';

afterEach(closeLinks);

type Answer = (request: OutgoingRequest) => object | Promise<object>;

/** An exchange like that of HTTP: requests are rejected once their session is lost, until there is a new one. */
function forgetfulExchange(more: Readonly<Record<string, Answer>> = {}) {
  const requests: string[] = [];
  let session = 0;
  let valid = false;
  const answers: Record<string, Answer> = {
    initialize: () => ({
      ...serverAnswer,
      capabilities: { logging: {}, tools: { listChanged: true }, resources: { subscribe: true } },
    }),
    ...more,
  };
  const exchange: Exchange = {
    listen: () => undefined,
    async request(request) {
      const { method, params } = request;
      const detail = params?.['uri'] ?? params?.['level'] ?? params?.['name'];
      if (method !== 'initialize' && !valid) {
        requests.push(`${method} in a lost session`);
        throw new McpError('connection_closed', 'The session is lost', { data: { sessionLost: true } });
      }
      requests.push([method, detail].filter(Boolean).join(' '));
      const result = (await (answers[method] ?? (() => ({})))(request)) as Message;
      if (method === 'initialize') {
        session += 1;
        valid = true;
      }
      return result;
    },
    notify: (method) => void requests.push(method),
    close: async () => undefined,
  };
  return {
    exchange,
    requests,
    answers,
    sessions: () => session,
    lose: () => {
      valid = false;
      requests.length = 0;
    },
  };
}

const handshake = ['initialize', 'notifications/initialized'];

describe('a session that the server has lost', () => {
  it('is reopened, and the request is sent again', async () => {
    const { exchange, requests, lose } = forgetfulExchange({ 'tools/call': () => ({ content: [] }) });
    const { call } = await linkOver(exchange);
    lose();
    expect(await call('tools/call', { name: 'x' })).toEqual({ resultType: 'complete', content: [] });
    expect(requests).toEqual(['tools/call in a lost session', ...handshake, 'tools/call x']);
  });

  it('is reopened once for all calls that need it', async () => {
    const { exchange, sessions, lose } = forgetfulExchange();
    const { call } = await linkOver(exchange);
    lose();
    await Promise.all([call('tools/list'), call('resources/list'), call('resources/read', { uri: 'a' })]);
    expect(sessions()).toBe(2);
  });

  it('is not reopened for a call that learns of the loss late', async () => {
    let refuse: ((error: McpError) => void) | undefined;
    const { exchange, answers, sessions, lose } = forgetfulExchange({
      'tools/call': () =>
        new Promise((_, reject) => {
          refuse = reject;
        }),
    });
    const { call } = await linkOver(exchange);
    const slow = call('tools/call', { name: 'x' });
    await until('it is sent', () => refuse !== undefined);
    lose();
    await call('tools/list');
    answers['tools/call'] = () => ({ content: [] });
    refuse?.(new McpError('connection_closed', 'Lost', { data: { sessionLost: true } }));
    expect(await slow).toMatchObject({ content: [] });
    expect(sessions()).toBe(2);
  });

  it('gets its subscriptions and its log level again before the request is sent again', async () => {
    const { exchange, requests, lose } = forgetfulExchange();
    const { call } = await linkOver(exchange);
    await call('tools/list', {}, { logLevel: 'warning' });
    const controller = new AbortController();
    let acknowledged = false;
    const listening = call(
      'subscriptions/listen',
      { notifications: { resourceSubscriptions: ['doc://1'] } },
      {
        signal: controller.signal,
        notify: () => {
          acknowledged = true;
        },
      },
    );
    await until('it is acknowledged', () => acknowledged);
    lose();
    await call('tools/list', {}, { logLevel: 'warning' });
    expect(requests).toEqual([
      'tools/list in a lost session',
      ...handshake,
      'resources/subscribe doc://1',
      'logging/setLevel warning',
      'tools/list',
    ]);
    controller.abort();
    await listening;
  });

  it('may have another revision after it is reopened', async () => {
    const { exchange, answers, lose } = forgetfulExchange();
    const { call, link } = await linkOver(exchange);
    answers['initialize'] = () => ({ ...serverAnswer, protocolVersion: '2025-06-18', instructions: 'New' });
    lose();
    await call('server/discover');
    expect(link.revision).toBe('2025-06-18');
    expect(link.discovered).toMatchObject({ supportedVersions: ['2025-06-18'], instructions: 'New' });
  });

  it('fails the call if it is lost again at once', async () => {
    const lost = new McpError('connection_closed', 'Lost', { data: { sessionLost: true } });
    const { exchange, sessions } = forgetfulExchange({ 'tools/list': () => Promise.reject(lost) });
    const { call } = await linkOver(exchange);
    await expect(call('tools/list')).rejects.toBe(lost);
    expect(sessions()).toBe(2);
  });

  it('fails the call if it cannot be reopened, and the next call tries again', async () => {
    const { exchange, answers, lose } = forgetfulExchange();
    const { call } = await linkOver(exchange);
    const initialize = answers['initialize'] as Answer;
    answers['initialize'] = () => Promise.reject(new McpError('internal_error', 'Full', { number: -32603 }));
    lose();
    await expect(call('tools/list')).rejects.toMatchObject({
      message: 'The server rejected the handshake: Full',
    });
    answers['initialize'] = initialize;
    expect(await call('tools/list')).toMatchObject({ resultType: 'complete' });
  });

  it('does not delay a call that is aborted while the session is reopened', async () => {
    const { exchange, answers, lose, requests } = forgetfulExchange();
    const { call } = await linkOver(exchange);
    let answer: ((result: object) => void) | undefined;
    answers['initialize'] = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    lose();
    const controller = new AbortController();
    const waiting = call('tools/list', {}, { signal: controller.signal });
    await until('the handshake has begun', () => requests.includes('initialize'));
    controller.abort(new McpError('timeout', 'Too long'));
    await expect(waiting).rejects.toMatchObject({ message: 'Too long' });
    answer?.(serverAnswer);
  });
});

describe('the stream of a call', () => {
  it('carries messages of the call and of the session', async () => {
    const { exchange } = forgetfulExchange({
      'tools/call': ({ onNotification: notify }) => {
        notify?.('notifications/message', { level: 'info', data: 'a' });
        notify?.('notifications/tools/list_changed', undefined);
        notify?.('notifications/elicitation/complete', { elicitationId: 'e' });
        return { content: [] };
      },
    });
    const { call, notifications } = await linkOver(exchange);
    const ofCall: string[] = [];
    const listening = new AbortController();
    const listens: string[] = [];
    const outcome = call(
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      { signal: listening.signal, notify: (method) => void listens.push(method) },
    );
    await until('it is acknowledged', () => listens.length === 1);
    await call('tools/call', { name: 'x' }, { notify: (method) => void ofCall.push(method) });
    expect(ofCall).toEqual(['notifications/message']);
    expect(listens.slice(1)).toEqual(['notifications/tools/list_changed']);
    expect(notifications.map(({ method }) => method)).toEqual([
      'notifications/tools/list_changed',
      'notifications/elicitation/complete',
    ]);
    listening.abort();
    await outcome;
  });
});
