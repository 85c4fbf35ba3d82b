// Plays a recorded host on the wire, with a model that does what the results say.

import { Ajv } from 'ajv';
import { soon } from '../until.js';
import { Broken, HttpLine, type Line, type Message } from './host-lines.js';
import type { Fields, RecordedHost } from './recorded-hosts.js';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const METHOD_NOT_FOUND = -32601;
/** The time after which a host without a terminal cancels a question. */
const CANCELS_MS = 200;

/** The place in which a host is played. */
export interface Stage {
  /** Connects to the server; on stdio, by starting it. */
  readonly connect: (host: RecordedHost) => Promise<Line>;
  /** Called whenever a call has shown something, and its work is not finished. */
  readonly onUnfinished: () => Promise<void>;
}

/** A result as the model of the host gets it. */
export interface Seen {
  readonly text: string;
  readonly data: Fields | undefined;
}

export class HostPlayer {
  readonly #host: RecordedHost;
  readonly #stage: Stage;
  readonly #asked = new Set<string>();
  #line: Line | undefined;
  /** The revision that the host speaks now. */
  #revision: string;
  #tools: readonly Message[] = [];
  #calls = 0;
  #requests = 0;

  constructor(host: RecordedHost, stage: Stage) {
    this.#host = host;
    this.#stage = stage;
    this.#revision = host.revision;
  }

  /** Calls a tool as the model would: does what the results say, and repeats a call whose connection broke. */
  async finish(tool: string, args: Fields): Promise<Seen> {
    this.#asked.clear();
    let next: readonly [string, Fields] = [tool, args];
    for (let calls = 0; calls < 60; calls++) {
      const seen = await this.call(...next).catch((error: unknown) => {
        if (error instanceof Broken) return undefined;
        throw error;
      });
      if (seen === undefined) {
        this.#line = undefined;
        continue;
      }
      const told = nextCall(seen, this.#host.reads);
      if (told === undefined) return seen;
      await this.#stage.onUnfinished();
      next = told;
    }
    throw new Error(`${tool} has no end in ${this.#host.title}`);
  }

  /** One call of the model. Fails if the host would have given it up. */
  async call(tool: string, args: Fields): Promise<Seen> {
    const { title, limitMs, forgets } = this.#host;
    if (forgets) await this.close();
    const line = await this.#connected();
    const listed = this.#tools.find(({ name }) => name === tool);
    if (listed === undefined) throw new Error(`The model of ${title} does not know ${tool}`);
    this.#calls++;
    const called =
      this.#host.tasks && listed['execution'] ? this.#callAsTask(tool, args) : this.#callOnce(tool, args);
    const result = await soon(`${tool} in ${title}`, called, limitMs);
    checkOutput(listed, result);
    if (forgets) await line.close();
    const [block] = result['content'] as { text?: string }[];
    return { text: block?.text ?? '', data: result['structuredContent'] };
  }

  async close(): Promise<void> {
    const line = this.#line;
    this.#line = undefined;
    await line?.close(this.#host.ends ? this.#headers() : undefined);
  }

  async #connected(): Promise<Line> {
    this.#line ??= await this.#connect();
    return this.#line;
  }

  async #connect(): Promise<Line> {
    const { probes = [], discovers = [], freezes, listens } = this.#host;
    const line = await this.#stage.connect(this.#host);
    if (line instanceof HttpLine) await Promise.all(probes.map((path) => line.probe(path)));
    this.#revision = this.#host.revision;
    for (const [at, id] of discovers.entries()) {
      // Between the two, on stdio.
      if (at === 1 && listens) this.#listen(line);
      await this.#discover(line, id);
    }
    if (this.#revision !== '2026-07-28') await this.#initialize(line);
    if (listens && discovers.length < 2) this.#listen(line);
    if (!freezes || this.#tools.length === 0)
      this.#tools = (await this.#ask(line, 'tools/list', {}))['result']['tools'];
    return line;
  }

  async #discover(line: Line, id: string | number): Promise<void> {
    const { older } = this.#host;
    const { result, error } = await this.#ask(line, 'server/discover', {}, { id, revision: '2026-07-28' });
    if (older !== undefined && error?.code === METHOD_NOT_FOUND) this.#revision = older;
    else if (!result?.['supportedVersions'].includes('2026-07-28')) throw new Error('Nothing was discovered');
  }

  async #initialize(line: Line): Promise<void> {
    const { capabilities, client } = this.#host;
    const revision = this.#revision;
    const params = { protocolVersion: revision, capabilities, clientInfo: client };
    const { result } = await this.#ask(line, 'initialize', params);
    if (result['protocolVersion'] !== revision) throw new Error(`${revision} was not accepted`);
    await line.send({ jsonrpc: '2.0', method: 'notifications/initialized' }, this.#headers());
  }

  #listen(line: Line): void {
    const revision = this.#revision;
    const onMessage = (message: Message): void => void this.#receive(line, message);
    if (revision !== '2026-07-28') return line.listen(this.#headers(), onMessage);
    const params = this.#envelope({ notifications: { toolsListChanged: true } });
    const message = { jsonrpc: '2.0', id: 'listen:0', method: 'subscriptions/listen', params };
    line.listen(this.#headers('subscriptions/listen', params), onMessage, message);
  }

  /** Calls a tool, and answers its questions by calling again, or while the call is open, as the revision has it. */
  async #callOnce(tool: string, args: Fields): Promise<Message> {
    let more: Fields = {};
    for (;;) {
      const line = await this.#connected();
      const params = { name: tool, arguments: args, _meta: this.#meta(), ...more };
      const { result, error } = await this.#ask(line, 'tools/call', params);
      if (error !== undefined) throw new Error(`${tool}: ${JSON.stringify(error)}`);
      if (result['resultType'] !== 'input_required') return result;
      const { inputRequests, requestState } = result;
      if (this.#host.older !== undefined) throw new Error(`${this.#host.title} does not call again`);
      const answers = await Promise.all(
        Object.entries(inputRequests as Record<string, Message>).map(async ([key, { params: asked }]) => [
          key,
          await this.#answer(asked),
        ]),
      );
      more = { inputResponses: Object.fromEntries(answers), requestState };
      // Nothing ties the next round to the process that has asked.
      if (this.#host.transport === 'http') this.#line = undefined;
    }
  }

  /** Calls a tool as a task of 2025-11-25, and fetches its result, from one process or from the next. */
  async #callAsTask(tool: string, args: Fields): Promise<Message> {
    const line = await this.#connected();
    const params = { name: tool, arguments: args, _meta: this.#meta(), task: { ttl: 600_000 } };
    const { result, error } = await this.#ask(line, 'tools/call', params);
    if (error !== undefined) throw new Error(`${tool}: ${JSON.stringify(error)}`);
    const { taskId } = result['task'];
    await this.#stage.onUnfinished();
    for (;;)
      try {
        const current = await this.#connected();
        await this.#ask(current, 'tasks/get', { taskId });
        const ended = await this.#ask(current, 'tasks/result', { taskId });
        if (ended['error'] !== undefined) throw new Error(`${tool}: ${JSON.stringify(ended['error'])}`);
        return ended['result'];
      } catch (broken) {
        if (!(broken instanceof Broken)) throw broken;
        this.#line = undefined;
      }
  }

  /** Sends a request, and serves those of the server until the response. */
  async #ask(
    line: Line,
    method: string,
    params: Fields,
    { id = ++this.#requests, revision = this.#revision }: { id?: string | number; revision?: string } = {},
  ): Promise<Message> {
    const all = revision === '2026-07-28' ? this.#envelope(params) : params;
    const message = { jsonrpc: '2.0', id, method, params: all };
    for await (const received of line.exchange(message, this.#headers(method, all)))
      if (received['method'] !== undefined) void this.#receive(line, received);
      else if (received['id'] === id) return received;
    throw new Broken(`${method} has no response`);
  }

  /** Serves a request of the server. */
  async #receive(line: Line, { id, method, params }: Message): Promise<void> {
    if (id === undefined) return;
    const answer = async (): Promise<Message | undefined> => {
      if (method === 'roots/list') return { result: { roots: [] } };
      if (method === 'ping') return { result: {} };
      if (method !== 'elicitation/create')
        return { error: { code: -32601, message: `Method not found: ${method}` } };
      const result = await this.#answer(params);
      return result && { result };
    };
    const given = await answer();
    if (given === undefined) return;
    // The process that has asked may be gone.
    await line.send({ jsonrpc: '2.0', id, ...given }, this.#headers()).catch(() => undefined);
  }

  /** The way of a question in this host. The server is killed while the user reads a question for the first time. */
  async #answer(asked: Message): Promise<Message> {
    switch (this.#host.question) {
      case 'cancelled':
        await new Promise((resolve) => setTimeout(resolve, CANCELS_MS));
        return { action: 'cancel' };
      case 'answered': {
        const about = JSON.stringify(asked['requestedSchema']) + asked['message'];
        if (!this.#asked.has(about)) {
          this.#asked.add(about);
          await this.#stage.onUnfinished();
        }
        return { action: 'accept', content: contentFor(asked['requestedSchema']) };
      }
      default:
        return new Promise(() => undefined);
    }
  }

  #meta(): Fields {
    const { meta, token } = this.#host;
    return { ...meta?.(this.#calls), ...(token && { progressToken: token(this.#calls) }) };
  }

  #envelope(params: Fields): Fields {
    const { client, capabilities } = this.#host;
    const own = {
      [VERSION]: '2026-07-28',
      'io.modelcontextprotocol/clientInfo': client,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    };
    return { ...params, _meta: { ...(params['_meta'] as Fields | undefined), ...own } };
  }

  #headers(method?: string, params: Message = {}): Record<string, string> {
    const { hidesRevision } = this.#host;
    const revision = this.#revision;
    const { _meta: meta = {}, name, taskId } = params;
    if (meta[VERSION] !== undefined && method !== undefined) {
      const subject = name ?? taskId;
      const named = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method };
      return subject === undefined ? named : { ...named, 'mcp-name': subject };
    }
    return hidesRevision || method === 'initialize' ? {} : { 'mcp-protocol-version': revision };
  }
}

/** The call that a result asks the model for, from the part of it that the model gets; undefined for the result of the tool. */
function nextCall({ text, data }: Seen, reads: RecordedHost['reads']): readonly [string, Fields] | undefined {
  return reads === 'data' && data !== undefined ? nextByData(data) : nextByText(text);
}

function nextByData({ status, task, questions }: Fields): readonly [string, Fields] | undefined {
  if (status === 'working') return ['continue_task', { task }];
  if (status !== 'input_required') return undefined;
  const [[question, { schema }] = ['', { schema: {} }]] = Object.entries(
    questions as Record<string, Message>,
  );
  return ['answer_question', { task, question, answer: contentFor(schema) }];
}

function nextByText(text: string): readonly [string, Fields] | undefined {
  const answer = argumentsIn(text, 'call answer_question with ');
  if (answer !== undefined)
    return ['answer_question', { ...answer, answer: contentFor(argumentsIn(text, 'fits this schema: ')) }];
  const more = argumentsIn(text, 'Call continue_task with ');
  return more && ['continue_task', more];
}

/** The first JSON object after some words. */
function argumentsIn(text: string, words: string): Fields | undefined {
  const at = text.indexOf(words);
  if (at === -1) return undefined;
  const from = at + words.length;
  for (let end = text.indexOf('}', from); end !== -1; end = text.indexOf('}', end + 1))
    try {
      return JSON.parse(text.slice(from, end + 1));
    } catch {
      // The brace belongs to an object inside.
    }
  return undefined;
}

function contentFor({ properties }: Message = {}): Fields {
  return Object.fromEntries(Object.keys(properties).map((name) => [name, 'L']));
}

/** Official clients reject results that do not fit the schema of the list that they have. */
function checkOutput({ outputSchema }: Message, { structuredContent, isError }: Message): void {
  if (outputSchema === undefined || isError) return;
  const ajv = new Ajv({ strict: false });
  if (!ajv.validate(outputSchema, structuredContent))
    throw new Error(`The result does not fit its output schema: ${ajv.errorsText()}`);
}
