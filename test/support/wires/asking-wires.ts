import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { inProcess, type Outcome, type Server } from 'fullmcp';
import { EventStreamReader } from '../../../src/jsonrpc/event-stream.js';
import type { McpError } from '../../../src/protocol/errors.js';
import { newestRevision } from '../../../src/protocol/tables/revisions.js';
import { openEvents, send } from '../http/http.js';
import { modern, modernMessage } from '../http/modern.js';
import { initializeMessage, jsonHeaders, openSession } from '../http/sessions.js';
import { ended } from '../processes.js';
import { soon, until } from '../until.js';
import { openWebSocket } from './web-socket.js';

// A client for every wire on which a server can ask questions, as raw as the wire: it calls, answers as the wire
// requires, and records every other message.

// biome-ignore lint/suspicious/noExplicitAny: what a peer sent, to be matched against
export type Message = Record<string, any>;

/** A question from the server, and the client's answer: a result, or an error instead. */
export type Answering = (question: { method: string; params: Message }) => Message;

export interface AskedClient {
  /** The response to a request: `result` or `error`, and the HTTP status if there is one. */
  readonly call: (method: string, params?: Message) => Promise<Message>;
  /** The questions, in order of arrival; those that came together are sorted. */
  readonly questions: Message[];
  readonly notifications: Message[];
  readonly close: () => Promise<unknown>;
}

interface WireOptions {
  /** The URL of `/mcp` on an HTTP server. */
  readonly url: string;
  readonly server: Server;
  readonly answer: Answering;
  readonly capabilities: object;
}

export interface Wire {
  readonly name: string;
  readonly open: (options: WireOptions) => Promise<AskedClient>;
}

const TASKS = 'io.modelcontextprotocol/tasks';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

export const sessionWires: readonly Wire[] = [
  ...['2025-11-25', '2025-06-18'].map((revision) => ({
    name: `HTTP ${revision}`,
    open: (options: WireOptions) => httpSession(options, revision),
  })),
  { name: 'HTTP+SSE 2025-06-18', open: (options) => oldestHttp(options, '2025-06-18') },
  { name: 'WebSocket 2025-11-25', open: (options) => webSocketSession(options, '2025-11-25') },
  { name: 'stdio 2025-11-25', open: (options) => stdio(options, '2025-11-25') },
];

export const modernWires: readonly Wire[] = [
  { name: 'in-process', open: overInProcess },
  { name: 'HTTP 2026-07-28', open: overHttp },
  { name: 'WebSocket 2026-07-28', open: overWebSocket },
  { name: 'stdio 2026-07-28', open: (options) => stdio(options) },
  { name: 'a task', open: asTask },
];

function newRecord(): Pick<AskedClient, 'questions' | 'notifications'> {
  return { questions: [], notifications: [] };
}

// Modern: the response lists the questions, and the client calls again.

type Send = (method: string, params: Message) => Promise<Message>;

function inRounds(post: Send, { answer }: WireOptions, questions: Message[]): AskedClient['call'] {
  return async function call(method, params = {}) {
    let reply = await post(method, params);
    while (reply['result']?.resultType === 'input_required') {
      const { inputRequests, requestState } = reply['result'];
      reply = await post(method, {
        ...params,
        inputResponses: answersTo(inputRequests, answer, questions),
        requestState,
      });
    }
    return reply;
  };
}

function answersTo(requests: Message, answer: Answering, questions: Message[]): Message {
  questions.push(...Object.values(requests));
  return Object.fromEntries(Object.entries(requests).map(([key, request]) => [key, answer(request)]));
}

async function overInProcess(options: WireOptions): Promise<AskedClient> {
  const request = inProcess(options.server, { capabilities: options.capabilities });
  const record = newRecord();
  const post: Send = (method, params) => request(method, params).then(toReply, toError);
  return { ...record, call: inRounds(post, options, record.questions), close: async () => undefined };
}

const toReply = (result: Outcome): Message => ({ result });
const toError = (error: McpError): Message => ({ error: error.toWire(newestRevision) });

async function overHttp(options: WireOptions): Promise<AskedClient> {
  const record = newRecord();
  return {
    ...record,
    call: inRounds(modernPost(options), options, record.questions),
    close: async () => undefined,
  };
}

function modernPost({ url, capabilities }: WireOptions): Send {
  return async function post(method, params) {
    const headers = params['taskId'] === undefined ? {} : { 'mcp-name': params['taskId'] };
    const meta = { [CAPABILITIES]: capabilities };
    const { status, text } = await modern(url, method, params, { meta, headers });
    return { ...JSON.parse(text), status };
  };
}

async function asTask({ capabilities, ...rest }: WireOptions): Promise<AskedClient> {
  const options = { ...rest, capabilities: { ...capabilities, extensions: { [TASKS]: {} } } };
  const record = newRecord();
  const post = modernPost(options);

  async function call(method: string, params: Message = {}): Promise<Message> {
    const created = await inRounds(post, options, record.questions)(method, params);
    if (created['result']?.resultType !== 'task') return created;
    const { taskId } = created['result'];
    let task: Message = {};
    for (;;) {
      await until('the task waits or has ended', async () => {
        task = (await post('tasks/get', { taskId }))['result'];
        return task['status'] !== 'working';
      });
      if (task['status'] !== 'input_required') return { result: task['result'], error: task['error'] };
      const inputResponses = answersTo(task['inputRequests'], options.answer, record.questions);
      await post('tasks/update', { taskId, inputResponses });
    }
  }

  return { ...record, call, close: async () => undefined };
}

// Channels: a line of messages in both directions.

interface Channel {
  readonly send: (message: Message) => void;
  readonly next: () => Promise<Message>;
  readonly close: () => Promise<unknown>;
}

function onChannel(channel: Channel, { answer }: WireOptions): AskedClient & { readonly post: Send } {
  const record = newRecord();
  let last = 0;

  async function post(method: string, params: Message): Promise<Message> {
    const id = ++last;
    channel.send({ jsonrpc: '2.0', id, method, params });
    for (;;) {
      const message = await channel.next();
      if (message['method'] === undefined && message['id'] === id) return message;
      if (message['id'] === undefined) record.notifications.push(message);
      else {
        record.questions.push(message);
        channel.send({ jsonrpc: '2.0', id: message['id'], ...asResponse(answer(message as never)) });
      }
    }
  }

  return { ...record, post, call: (method, params = {}) => post(method, params), close: channel.close };
}

function asResponse(answer: Message): Message {
  return 'error' in answer ? answer : { result: answer };
}

async function handshake(channel: Channel, options: WireOptions, revision: string): Promise<AskedClient> {
  channel.send(initializeMessage(revision, options.capabilities));
  await channel.next();
  channel.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return onChannel(channel, options);
}

function modernOnChannel(channel: Channel, options: WireOptions): AskedClient {
  const client = onChannel(channel, options);
  const meta = { [CAPABILITIES]: options.capabilities };
  const post: Send = (method, params) =>
    client.post(method, modernMessage(method, params, { meta })['params'] as Message);
  return { ...client, call: inRounds(post, options, client.questions) };
}

async function webSocketChannel(url: string): Promise<Channel> {
  const client = await openWebSocket(url);
  return {
    ...client,
    async close() {
      client.socket.close();
      await once(client.socket, 'close');
    },
  };
}

async function overWebSocket(options: WireOptions): Promise<AskedClient> {
  return modernOnChannel(await webSocketChannel(options.url), options);
}

async function webSocketSession(options: WireOptions, revision: string): Promise<AskedClient> {
  return handshake(await webSocketChannel(options.url), options, revision);
}

const stdioServer = fileURLToPath(new URL('../../flows/fixtures/asking-stdio.js', import.meta.url));

export function stdioChannel(): Channel & { readonly exit: () => Promise<number | null> } {
  const child = spawn(process.execPath, [stdioServer], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const exit = (): Promise<number | null> =>
    soon(
      'The end of the process',
      ended(child, () => child.stdin.end()),
      10_000,
    );
  return {
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    async next() {
      const { value, done } = await soon('The next message', lines.next());
      if (done) throw new Error('The server closed its output');
      return JSON.parse(value as string) as Message;
    },
    exit,
    close: exit,
  };
}

async function stdio(options: WireOptions, revision?: string): Promise<AskedClient> {
  const channel = stdioChannel();
  return revision === undefined ? modernOnChannel(channel, options) : handshake(channel, options, revision);
}

async function oldestHttp(options: WireOptions, revision: string): Promise<AskedClient> {
  const events = await openEvents(new URL('/sse', options.url).href, {
    method: 'GET',
    headers: { accept: 'text/event-stream' },
  });
  const path = String((await events.next())?.data);
  const channel: Channel = {
    send: (message) =>
      void send(new URL(path, options.url).href, { headers: jsonHeaders, body: JSON.stringify(message) }),
    next: async () => JSON.parse(String((await events.next())?.data)) as Message,
    close: async () => events.drop(),
  };
  return handshake(channel, options, revision);
}

// Streamable HTTP with sessions: questions arrive on the stream of the call, and each answer is a separate POST.

async function httpSession(options: WireOptions, revision: string): Promise<AskedClient> {
  const { answer } = options;
  const session = await openSession(options.url, revision, options.capabilities);
  const record = newRecord();
  let last = 0;

  async function call(method: string, params: Message = {}): Promise<Message> {
    const id = ++last;
    const response = await fetch(options.url, {
      method: 'POST',
      headers: session.headers,
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    });
    const text = response.headers.get('content-type') === 'application/json' && (await response.text());
    if (text) return { ...JSON.parse(text), status: response.status };
    for await (const message of messagesOf(response)) {
      if (message['method'] === undefined && message['id'] === id) return message;
      if (message['id'] === undefined) record.notifications.push(message);
      else {
        record.questions.push(message);
        const { status } = await session.post({
          jsonrpc: '2.0',
          id: message['id'],
          ...asResponse(answer(message as never)),
        });
        if (status !== 202) throw new Error(`The reply to an answer has the status ${status}`);
      }
    }
    throw new Error('The stream ended without a response');
  }

  return { ...record, call, close: session.end };
}

async function* messagesOf(response: Response): AsyncGenerator<Message> {
  const reader = new EventStreamReader({ maxBytes: 1024 * 1024 });
  for await (const chunk of response.body ?? [])
    for (const { data } of reader.push(chunk)) if (data) yield JSON.parse(data) as Message;
}
