import type { Server } from 'fullmcp';
import { afterEach, describe, expect, test } from 'vitest';
import { modern } from '../http/modern.js';
import { openSession } from '../http/sessions.js';
import type { Answering, AskedClient, Message, Wire } from './asking-wires.js';

// The same handlers over every wire on which a server can ask its client questions: the table. The handlers are in
// `flows/fixtures/asking-server.js`.

/** The capabilities of a client that can be asked anything. */
export const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
/** The answer of a user who accepts. */
export const accept = (content?: Message): Message => ({ action: 'accept', ...(content && { content }) });

/** The answers of a cooperative client. */
const helpful: Answering = ({ method, params }) => {
  if (method === 'roots/list') return { roots: [{ uri: 'file:///work' }] };
  if (method === 'sampling/createMessage')
    return { role: 'assistant', model: 'small', content: { type: 'text', text: 'Enjoy' } };
  if (params['mode'] === 'url') return accept();
  const fields = Object.keys(params['requestedSchema'].properties);
  const values: Message = { name: 'Ada', size: 'large', ok: true, topic: 'Bees' };
  return accept(Object.fromEntries(fields.filter((key) => key in values).map((key) => [key, values[key]])));
};

/** The server that is asked, wherever it runs. */
export interface AskingWorld {
  /** The URL of `/mcp`. */
  readonly url: string;
  /** The server in this process, for wires that need it. */
  readonly server: Server;
  /** How many calls of tools have begun. */
  readonly calls: () => number;
  /** The effects of the steps so far. */
  readonly effects: () => readonly string[];
}

/** The wires of the table. */
export interface AskingWires {
  readonly modern: readonly Wire[];
  readonly sessions: readonly Wire[];
  /** The wires on which every kind of question is tried. */
  readonly few: readonly Wire[];
  /** Whether the server with the handlers is of the session era, behind a proxy. */
  readonly isOlder?: boolean;
  /** Whether the handler is told what a session's client answers: not if it is of the newest revision and behind a proxy. */
  readonly hasHandler?: boolean;
}

/** A request for a tool. */
export const tool = (name: string, args: Message = {}): [string, Message] => [
  'tools/call',
  { name, arguments: args },
];

/** Opens clients, and closes them after each test. */
export function openingClients(
  world: () => Pick<AskingWorld, 'url' | 'server'>,
): (wire: Wire | undefined, answer?: Answering, capabilities?: object) => Promise<AskedClient> {
  const clients: AskedClient[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  return async function open(wire, answer = helpful, capabilities = everything) {
    const { url, server } = world();
    const client = await (wire as Wire).open({ url, server, answer, capabilities });
    clients.push(client);
    return client;
  };
}

/** Runs the table. */
export function askingTable(
  world: () => AskingWorld,
  { modern: modernOnes, sessions, few, isOlder = false, hasHandler = true }: AskingWires,
): void {
  const open = openingClients(world);
  const http = few.find(({ name }) => name === 'HTTP 2026-07-28');

  describe.each([...modernOnes, ...sessions])('a handler that asks over $name', (wire) => {
    test('asks every question once and in order, and runs its step once', async () => {
      const client = await open(wire);
      const { result } = await client.call(...tool('order'));
      expect(result.content[0].text).toBe(
        '1: large for Ada, {"action":"accept","content":{"gift":false}}, Enjoy',
      );
      const messages = client.questions.map(
        ({ params }) => params.message ?? params.messages[0].content.text,
      );
      expect(messages.slice(0, 2)).toEqual(['Your name?', 'Which size, Ada?']);
      expect(messages.slice(2).sort()).toEqual(['A gift?', 'A note to Ada']);
      const recorded = await client.call(...tool('effects'));
      expect(recorded['result'].structuredContent).toEqual({ effects: ['large for Ada'] });
    });

    test.each(['decline', 'cancel'])(
      'gets the action "%s" from elicit, and its call fails after ask',
      async (action) => {
        const client = await open(wire, () => ({ action }));
        expect((await client.call(...tool('sure')))['result'].structuredContent).toEqual({ action });
        const { result } = await client.call(...tool('order'));
        expect(result).toMatchObject({
          isError: true,
          content: [{ text: action === 'decline' ? 'The user declined: name' : 'The user cancelled: name' }],
        });
        expect((await client.call(...tool('effects')))['result'].structuredContent).toEqual({ effects: [] });
      },
    );

    test('asks again after an invalid answer', async () => {
      const answers: Message[] = [
        { action: 'perhaps' },
        accept({ ok: 'certainly' }),
        {},
        accept({ ok: true }),
      ];
      const client = await open(wire, () => answers.shift() ?? accept());
      const { result } = await client.call(...tool('sure'));
      expect(result.structuredContent).toEqual({ action: 'accept', content: { ok: true } });
      expect(client.questions).toHaveLength(4);
    });
  });

  describe.each(few)('a handler that asks over $name', (wire) => {
    test('asks the questions of a tool and a resource that it uses', async () => {
      const client = await open(wire);
      const { result } = await client.call(...tool('nested'));
      expect(JSON.parse(result.content[0].text)).toMatchObject([
        { action: 'accept', content: { ok: true } },
        { text: 'file:///work' },
      ]);
      expect(client.questions.map(({ method }) => method)).toEqual(['elicitation/create', 'roots/list']);
    });

    test('may be a prompt or a resource', async () => {
      const client = await open(wire);
      expect((await client.call('prompts/get', { name: 'topic' }))['result']).toMatchObject({
        messages: [{ content: { text: 'Bees' } }],
      });
      expect((await client.call('resources/read', { uri: 'asking://roots' }))['result']).toMatchObject({
        contents: [{ text: 'file:///work' }],
      });
    });

    test.each([
      ['sure', {}, { elicitation: { form: {} } }],
      ['sure', { elicitation: { url: {} } }, { elicitation: { form: {} } }],
      ['login', { elicitation: {} }, { elicitation: { url: {} } }],
      ['summary', {}, { sampling: {} }],
      ['think', { sampling: {} }, { sampling: { tools: {} } }],
      ['pair', { elicitation: {} }, { roots: {} }],
    ])(
      'does not send the question of %s to a client with %j',
      async (name, capabilities, requiredCapabilities) => {
        const client = await open(wire, helpful, capabilities);
        const { error, result, status } = await client.call(...tool(name));
        if (isOlder || sessions.includes(wire)) {
          // These revisions have no error code for this; the model can read a tool's failure.
          expect(error).toBeUndefined();
          expect(result).toMatchObject({ isError: true });
          expect(result.content[0].text).toContain(Object.keys(requiredCapabilities)[0]);
        } else expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities } });
        if (wire === http) expect(status).toBe(isOlder ? 200 : 400);
        expect(client.questions).toEqual([]);
      },
    );

    test.each([
      ['sure', { elicitation: {} }],
      ['login', { elicitation: { url: {} } }],
      ['think', { sampling: { tools: {} } }],
    ])('sends the question of %s to a client with %j', async (name, capabilities) => {
      const client = await open(wire, helpful, capabilities);
      expect((await client.call(...tool(name)))['result'].isError).toBeUndefined();
      expect(client.questions).toHaveLength(1);
    });
  });

  describe.each(sessions)('a handler that asks over $name', (wire) => {
    test('ends the call with an error if the client answers with an error, and the next request works', async () => {
      const client = await open(wire, ({ method }) => ({
        error: { code: -32601, message: method === 'roots/list' ? 'What are roots?' : 'Nobody is here' },
      }));
      expect((await client.call(...tool('sure')))['result']).toEqual({
        isError: true,
        content: [{ type: 'text', text: 'The client could not answer: Nobody is here' }],
      });
      expect(client.questions).toHaveLength(1);
      const { error } = await client.call('resources/read', { uri: 'asking://roots' });
      expect(error).toMatchObject({ code: -32603, message: 'The client could not answer: What are roots?' });
      expect((await client.call('ping'))['result']).toEqual({});
    });

    test('tells a handler that the user rejected its sampling request, apart from a client that fails', async () => {
      let code = -1;
      const client = await open(wire, () => ({ error: { code, message: 'User rejected sampling request' } }));
      const text = async (name: string): Promise<unknown> => {
        const { result } = await client.call(...tool(name));
        return [result.content[0].text, result.isError === true];
      };
      const rejected = ['User rejected sampling request', true];
      // Spec 2026-07-28: a call whose user declines is not sent again, so that its handler does not learn of it.
      expect(await text('opinion')).toEqual(hasHandler ? ['The user said no.', false] : rejected);
      expect(await text('summary')).toEqual(rejected);
      code = -32603;
      const failed = ['The client could not answer: User rejected sampling request', true];
      expect(await text('opinion')).toEqual(failed);
      expect((await client.call('ping'))['result']).toEqual({});
    });

    test('writes questions in the shape of the revision', async () => {
      const client = await open(wire);
      await client.call(...tool('order'));
      const { requestedSchema, ...params } = (client.questions[1] as Message)['params'];
      expect(params).toEqual({
        message: 'Which size, Ada?',
        ...(wire.name.includes('2025-11-25') && { mode: 'form' }),
        _meta: { 'fullmcp/key': 'size' },
      });
      expect(requestedSchema).toEqual({
        type: 'object',
        properties: { size: { type: 'string', enum: ['small', 'large'] } },
        required: ['size'],
      });
    });
  });

  describe('a question over HTTP with sessions', () => {
    const sure = { name: 'sure', arguments: {} };
    const next = async (events: Awaited<ReturnType<Awaited<ReturnType<typeof openSession>>['stream']>>) => {
      for (;;) {
        const event = await events.next();
        if (event === undefined) throw new Error('The stream has ended');
        if (event.data !== '') return { event, message: JSON.parse(String(event.data)) as Message };
      }
    };

    test('is cancelled, and its call does not continue, if the client ends the session', async () => {
      const session = await openSession(world().url, '2025-11-25', everything);
      const events = await session.stream('tools/call', sure);
      const { message: question } = await next(events);
      expect((await session.end()).status).toBe(200);
      const late = await session.post({ jsonrpc: '2.0', id: question['id'], result: accept({ ok: true }) });
      expect([late.status, world().calls()]).toEqual([404, 1]);
      const rest = (await events.rest()).map(({ data }) => JSON.parse(String(data)).method);
      expect(rest).toEqual(['notifications/cancelled']);
    });

    test('is sent again to a client that resumes a lost stream', async () => {
      const session = await openSession(world().url, '2025-11-25', everything);
      const events = await session.stream('tools/call', sure);
      const before = await events.next();
      const { message: question } = await next(events);
      events.drop();
      const again = await session.resume(String(before?.id));
      expect((await next(again)).message).toEqual(question);
      await session.post({ jsonrpc: '2.0', id: question['id'], result: accept({ ok: true }) });
      expect((await next(again)).message).toMatchObject({
        id: 1,
        result: { structuredContent: { action: 'accept', content: { ok: true } } },
      });
    });

    test('cannot be answered from another session', async () => {
      const session = await openSession(world().url, '2025-11-25', everything);
      const other = await openSession(world().url, '2025-11-25', everything);
      const events = await session.stream('tools/call', sure);
      const { message: question } = await next(events);
      const reply = await other.post({ jsonrpc: '2.0', id: question['id'], result: accept({ ok: true }) });
      expect(reply.status).toBe(400);
      await session.post({ jsonrpc: '2.0', id: question['id'], result: { action: 'decline' } });
      expect((await next(events)).message).toMatchObject({
        result: { structuredContent: { action: 'decline' } },
      });
    });

    test('fails the call of a client that does not accept streams', async () => {
      const session = await openSession(world().url, '2025-11-25', everything);
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: sure };
      const { text } = await session.post(message, { accept: 'application/json' });
      expect(JSON.parse(text).error).toMatchObject({ message: expect.stringContaining('text/event-stream') });
    });

    test('may be answered in a batch if the revision has batches', async () => {
      const session = await openSession(world().url, '2025-03-26', everything);
      const events = await session.stream('tools/call', { name: 'summary', arguments: {} });
      const { message: question } = await next(events);
      const result = helpful({ method: question['method'], params: question['params'] });
      const reply = await session.post([{ jsonrpc: '2.0', id: question['id'], result }]);
      expect(reply.status).toBe(202);
      expect((await next(events)).message).toMatchObject({ result: { content: [{ text: 'Enjoy' }] } });
    });
  });

  describe('a URL elicitation', () => {
    test.each(few.filter((wire) => sessions.includes(wire)))(
      'has an id in 2025-11-25, and its completion is announced ($name)',
      async (wire) => {
        const client = await open(wire);
        expect((await client.call(...tool('login')))['result']).toEqual({
          content: [{ type: 'text', text: 'accept' }],
        });
        const [{ params } = { params: {} }] = client.questions as Message[];
        expect(params).toEqual({
          mode: 'url',
          message: 'Log in',
          url: 'https://example.com/login',
          elicitationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          _meta: { 'fullmcp/key': expect.any(String) },
        });
        expect(client.notifications).toEqual([
          {
            jsonrpc: '2.0',
            method: 'notifications/elicitation/complete',
            params: { elicitationId: params.elicitationId },
          },
        ]);
      },
    );

    test('has no id in 2026-07-28', async () => {
      const client = await open(http);
      expect((await client.call(...tool('login')))['result'].content[0].text).toBe('accept');
      expect(client.questions).toEqual([
        {
          method: 'elicitation/create',
          params: { mode: 'url', message: 'Log in', url: 'https://example.com/login' },
        },
      ]);
    });
  });

  test('a call over modern HTTP that is retried with one of two answers asks only for the other', async () => {
    const meta = { 'io.modelcontextprotocol/clientCapabilities': everything };
    const call = async (more: Message = {}): Promise<Message> => {
      const { text } = await modern(
        world().url,
        'tools/call',
        { name: 'pair', arguments: {}, ...more },
        { meta },
      );
      return JSON.parse(text).result;
    };
    const first = await call();
    expect(Object.keys(first['inputRequests'])).toEqual(['left', 'right']);
    const second = await call({
      requestState: first['requestState'],
      inputResponses: { left: accept({ ok: true }) },
    });
    expect(Object.keys(second['inputRequests'])).toEqual(['right']);
    const third = await call({
      requestState: second['requestState'],
      inputResponses: { right: { roots: [] } },
    });
    expect(third).toMatchObject({ resultType: 'complete', content: [{ text: '[{"ok":true},[]]' }] });
    expect(world().effects()).toEqual([]);
  });
}
