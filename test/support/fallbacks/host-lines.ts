// The connections of recorded hosts: messages on HTTP and on the pipes of a process, with nothing of ours in between.

import { type ChildProcess, spawn } from 'node:child_process';
import { type IncomingMessage, request } from 'node:http';
import process from 'node:process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

// biome-ignore lint/suspicious/noExplicitAny: what a peer sent
export type Message = Record<string, any>;

/** The connection broke before there was a response. */
export class Broken extends Error {}

export interface Line {
  /** Sends a request. Yields everything that the server sends until its response, which is the last. Throws `Broken`. */
  readonly exchange: (message: Message, headers?: Headers) => AsyncGenerator<Message>;
  /** Sends a notification, or the response to a request of the server. */
  readonly send: (message: Message, headers?: Headers) => Promise<void>;
  /** Reads what the server sends by itself, until the connection ends. */
  readonly listen: (headers: Headers, onMessage: (message: Message) => void, message?: Message) => void;
  readonly close: (headers?: Headers) => Promise<void>;
}

export type Headers = Readonly<Record<string, string>>;

/** Messages over Streamable HTTP, as a host with these headers sends them. */
export class HttpLine implements Line {
  readonly #url: string;
  readonly #headers: Headers;
  readonly #dropsSession: boolean;
  readonly #open = new Set<IncomingMessage>();
  #session: Headers = {};

  constructor(url: string, headers: Headers, { dropsSession = false } = {}) {
    this.#url = url;
    this.#headers = headers;
    this.#dropsSession = dropsSession;
  }

  async *exchange(message: Message, headers: Headers = {}): AsyncGenerator<Message> {
    const response = await this.#post(message, headers);
    const { 'content-type': type = '', 'mcp-session-id': session } = response.headers;
    if (session !== undefined && !this.#dropsSession) this.#session = { 'mcp-session-id': String(session) };
    try {
      if (type.startsWith('text/event-stream')) yield* eventsOf(response);
      else yield JSON.parse(await textOf(response));
    } catch (cause) {
      throw new Broken(`The reply to ${message['method']} broke, status ${response.statusCode}`, { cause });
    }
  }

  async send(message: Message, headers: Headers = {}): Promise<void> {
    const response = await this.#post(message, headers);
    await textOf(response);
    if (response.statusCode !== 202) throw new Broken(`A message got ${response.statusCode}`);
  }

  listen(headers: Headers, onMessage: (message: Message) => void, message?: Message): void {
    void (async () => {
      const response =
        message === undefined
          ? await this.#begin('GET', this.#url, { accept: 'text/event-stream', ...headers })
          : await this.#post(message, headers);
      this.#open.add(response);
      for await (const received of eventsOf(response)) onMessage(received);
      // The stream ends with its process.
    })().catch(() => undefined);
  }

  /** Sends a GET to a path, and does not look at what comes. */
  async probe(path: string): Promise<void> {
    const headers = { accept: '*/*', 'mcp-protocol-version': '2024-11-05' };
    await textOf(await this.#begin('GET', new URL(path, this.#url).href, headers));
  }

  async close(headers?: Headers): Promise<void> {
    if (headers !== undefined)
      await this.#begin('DELETE', this.#url, { ...headers, accept: '*/*' }).then(textOf, () => undefined);
    for (const response of this.#open) response.destroy();
  }

  #post(message: Message, headers: Headers): Promise<IncomingMessage> {
    const both = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    return this.#begin('POST', this.#url, { ...both, ...this.#headers, ...headers }, JSON.stringify(message));
  }

  #begin(method: string, url: string, headers: Headers, body?: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const all = { ...this.#headers, ...headers, ...this.#session };
      const sent = request(url, { method, agent: false, headers: all }, (response) => {
        response.setEncoding('utf8');
        resolve(response);
      });
      sent.on('error', (cause) => reject(new Broken(`${method} failed`, { cause })));
      sent.end(body);
    });
  }
}

async function textOf(response: Readable): Promise<string> {
  let text = '';
  for await (const chunk of response) text += chunk;
  return text;
}

async function* eventsOf(response: Readable): AsyncGenerator<Message> {
  let rest = '';
  for await (const chunk of response) {
    const events = (rest + chunk).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = event.split('\n').filter((line) => line.startsWith('data:'));
      const text = data.map((line) => line.slice('data:'.length)).join('\n');
      if (text.trim() !== '') yield JSON.parse(text);
    }
  }
}

/** Messages on the pipes of a process, which the host starts in the root of the file system, with few variables. */
export class PipeLine implements Line {
  readonly child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const { PATH = '', HOME = '' } = process.env;
    this.child = spawn(process.execPath, args, {
      ...{ cwd: '/', env: { PATH, HOME, ...env } },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.child.stdin?.on('error', () => undefined);
    this.#lines = createInterface(this.child.stdout as Readable)[Symbol.asyncIterator]();
  }

  async *exchange(message: Message): AsyncGenerator<Message> {
    await this.send(message);
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) throw new Broken('The process has ended');
      const received = JSON.parse(value as string) as Message;
      yield received;
      if (received['id'] === message['id'] && received['method'] === undefined) return;
    }
  }

  async send(message: Message): Promise<void> {
    this.child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  // Everything that the server sends by itself comes on the same pipe.
  listen(_headers: Headers, _onMessage: (message: Message) => void, message?: Message): void {
    if (message !== undefined) void this.send(message);
  }

  async close(): Promise<void> {
    this.child.kill('SIGTERM');
  }
}
