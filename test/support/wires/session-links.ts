import { openSessionLink } from '../../../src/legacy/client/session-link.js';
import { channelSession } from '../../../src/legacy/server/channel-session.js';
import type { Call, Dispatch, Outcome, Peer } from '../../../src/protocol/call.js';
import type { McpError } from '../../../src/protocol/errors.js';
import type { Link, LinkEvents } from '../../../src/protocol/link.js';
import type { InputRequest } from '../../../src/protocol/model/input.js';
import type { ClientCapabilities } from '../../../src/protocol/model/model.js';
import type { Revision } from '../../../src/protocol/tables/revisions.js';
import type { Exchange } from '../../../src/transports/client/exchange.js';
import { wireExchange } from '../../../src/transports/client/wire-exchange.js';
import { openChannel } from '../../../src/transports/server/channel.js';
import { type FarEnd, wirePair } from './wire-pair.js';

// Links of the session era in memory: to a server of ours, or to one that follows a script.

// biome-ignore lint/suspicious/noExplicitAny: what a peer sent, to be matched against
export type Message = Record<string, any>;

/** Every event of a link, and how questions are answered. */
export interface LinkRecord {
  readonly events: LinkEvents;
  readonly notifications: { readonly method: string; readonly params: unknown }[];
  readonly questions: InputRequest[];
  readonly problems: string[];
  readonly lost: McpError[];
}

export interface LinkOptions {
  readonly revision?: Revision;
  readonly capabilities?: ClientCapabilities;
  readonly client?: Peer['client'];
  readonly signal?: AbortSignal;
  readonly answer?: (request: InputRequest, signal: AbortSignal) => Promise<Message>;
}

export interface TestLink extends LinkRecord {
  readonly link: Link;
  readonly far: FarEnd;
  /** The messages from the client, in order. */
  readonly sent: Message[];
  readonly call: (method: string, params?: Message, more?: Partial<Call> & Partial<Peer>) => Promise<Outcome>;
}

const open: (() => Promise<unknown>)[] = [];

/** Closes everything that a test has left open. Call it after each test. */
export async function closeLinks(): Promise<void> {
  await Promise.all(open.splice(0).map((close) => close()));
}

export function listener(answer: LinkOptions['answer']): LinkRecord {
  const record: Omit<LinkRecord, 'events'> = { notifications: [], questions: [], problems: [], lost: [] };
  return {
    ...record,
    events: {
      notification: (method, params) => void record.notifications.push({ method, params }),
      ask: (request, signal) => {
        record.questions.push(request);
        return answer?.(request, signal) ?? Promise.reject(new Error('Nobody answers'));
      },
      problem: (message) => void record.problems.push(message),
      lost: (reason) => void record.lost.push(reason),
    },
  };
}

/** A link to a server of ours, on a connection as `fullmcp/websocket` serves it. */
export function linkTo(dispatch: Dispatch, options: LinkOptions = {}): Promise<TestLink> {
  return connect((send) => {
    const channel = openChannel({ dispatch, send, session: channelSession(dispatch, send) });
    open.push(() => channel.close({ deadlineMs: 0 }));
    return channel.receive;
  }, options);
}

export interface Script {
  /** The result of a request; undefined leaves it open, and a thrown value becomes its error. */
  readonly answer?: (request: Message, send: (message: object) => void) => object | undefined;
  readonly initialize?: Message | ((params: Message) => object | undefined);
}

export const serverAnswer: Message = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  serverInfo: { name: 'scripted', version: '1' },
};

/** A link to a server that follows a script. */
export function linkToScript(
  { answer, initialize = serverAnswer }: Script,
  options: LinkOptions = {},
): Promise<TestLink> {
  return connect((print) => {
    const send = (message: object): void => print(JSON.stringify({ jsonrpc: '2.0', ...message }));
    return (text) => {
      const message = JSON.parse(text) as Message;
      if (message['id'] === undefined || message['method'] === undefined) return;
      const { id, method, params } = message;
      try {
        const handshake = typeof initialize === 'function' ? initialize : () => initialize;
        const result = method === 'initialize' ? handshake(params) : answer?.(message, send);
        if (result !== undefined) send({ id, result });
      } catch (error) {
        send({ id, error });
      }
    };
  }, options);
}

async function connect(
  serve: (send: (text: string) => void) => (text: string) => void,
  options: LinkOptions,
): Promise<TestLink> {
  const sent: Message[] = [];
  let receive: (text: string) => void = () => undefined;
  const { wire, far } = wirePair((text) => {
    sent.push(JSON.parse(text));
    receive(text);
  });
  receive = serve(far.send);
  return { ...(await linkOver(wireExchange(wire), options)), far, sent };
}

/** A link over any exchange. */
export async function linkOver(
  exchange: Exchange,
  options: LinkOptions = {},
): Promise<Omit<TestLink, 'far' | 'sent'>> {
  const { capabilities = {}, client = { name: 'c', version: '1' }, revision, answer } = options;
  const { signal = new AbortController().signal } = options;
  const record = listener(answer);
  const link = await openSessionLink(exchange, {
    events: record.events,
    open: { signal, client: { client, capabilities } },
    transport: 'memory',
    ...(revision !== undefined && { revision }),
  });
  open.push(link.close);
  const call: TestLink['call'] = (method, params = {}, more = {}) => {
    const peer = { revision: '2026-07-28' as const, client, capabilities, logLevel: undefined, ...more };
    return link.dispatch({
      id: 'call',
      method,
      params,
      signal: new AbortController().signal,
      notify: () => undefined,
      peer,
      ...more,
    });
  };
  return { ...record, link, call };
}
