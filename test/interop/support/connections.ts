import process from 'node:process';
import { vi } from 'vitest';
import { fixture } from '../../support/processes.js';
import {
  type CallOptions,
  type Client,
  ClientV1,
  ClientV2,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  HttpV1,
  HttpV2,
  ListRootsRequestSchema,
  type Notification,
  type Question,
  SseV1,
  SseV2,
  StdioV1,
  StdioV2,
  type ToolResult,
  type Transport,
  WebSocketV1,
} from './peers.js';

/** A real client with a connection. It hides the few differences between clients and eras. */
export interface Connection {
  readonly client: Client;
  readonly transport: Transport;
  /** Every notification of the server, except progress. */
  readonly notifications: readonly Notification[];
  /**
   * Every progress notification, as it arrived. The `onprogress` of a call is not a witness: the second package reports to it which round
   * of questions a call is in, and it misses progress that arrives together with the response.
   */
  readonly progress: readonly ProgressNotification[];
  readonly errors: readonly Error[];
  readonly call: (name: string, args?: Record<string, unknown>, options?: CallOptions) => Promise<ToolResult>;
  /** Resolves when later changes will be announced. */
  readonly watch: (uri: string) => Promise<{ readonly end: () => Promise<void> }>;
  /** Calls a tool and asks for its log from this level upwards. `settled` is called between the two, if they are two. */
  readonly callWithLog: (
    level: string,
    name: string,
    settled?: (level: string) => Promise<void>,
  ) => Promise<ToolResult>;
  readonly close: () => Promise<void>;
}

interface ProgressNotification {
  readonly progress: number;
  readonly progressToken: string | number;
}

type Over = 'stdio' | 'http' | 'sse' | 'websocket';
type Who = 'v1' | 'v2 legacy' | 'v2 auto' | 'v2 pinned';

export interface Row {
  readonly who: Who;
  readonly over: Over;
  readonly modern: boolean;
  /** The connection of the proxy or gateway, if there is one between the client and the server. */
  readonly behind?: Pick<Row, 'over' | 'modern'> & { readonly isGateway: boolean };
}

/** The second package has no WebSocket. */
const transports: Readonly<Record<Who, readonly Over[]>> = {
  v1: ['stdio', 'http', 'sse', 'websocket'],
  'v2 legacy': ['stdio', 'http', 'sse'],
  'v2 auto': ['stdio', 'http', 'sse'],
  'v2 pinned': ['stdio', 'http', 'sse'],
};

export const rows: readonly Row[] = (Object.keys(transports) as Who[]).flatMap((who) =>
  transports[who].map((over) => ({ who, over, modern: who === 'v2 auto' || who === 'v2 pinned' })),
);

const NEWEST = '2026-07-28';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** Answers the server's questions. */
export type Answering = (question: Question) => Promise<object>;

export async function connectTo(
  url: string,
  { who, over, modern }: Row,
  answering?: Answering,
): Promise<Connection> {
  const standing = standingStream();
  const transport = open(url, { who, over, fetch: standing.fetch });
  const capabilities = answering ? { elicitation: { form: {} }, sampling: {}, roots: {} } : {};
  const client =
    who === 'v1'
      ? new ClientV1(me, { capabilities })
      : new ClientV2(me, { capabilities, versionNegotiation: { mode: modes[who] } });
  if (answering) {
    for (const [method, schema] of questions)
      client.setRequestHandler(who === 'v1' ? schema : method, answering);
  }
  const notifications: Notification[] = [];
  const errors: Error[] = [];
  client.onerror = (error) => errors.push(error);
  client.fallbackNotificationHandler = async (notification) => {
    notifications.push(notification);
  };
  await client.connect(transport);
  const progress: ProgressNotification[] = [];
  const receive = transport.onmessage;
  transport.onmessage = (message, ...more) => {
    if (message.method === 'notifications/progress') progress.push(message.params as never);
    receive?.(message, ...more);
  };

  const call: Connection['call'] = (name, args = {}, options = {}) =>
    who === 'v1'
      ? client.callTool({ name, arguments: args }, undefined, options)
      : client.callTool({ name, arguments: args }, options);

  return {
    client,
    transport,
    notifications,
    progress,
    errors,
    call,
    async watch(uri) {
      if (modern && client.listen !== undefined) {
        const subscription = await client.listen({
          resourceSubscriptions: [uri],
          toolsListChanged: true,
          resourcesListChanged: true,
          promptsListChanged: true,
        });
        return { end: () => subscription.close() };
      }
      // Over HTTP, messages outside a call arrive on a stream that the client opens at some later time.
      if (over === 'http') await standing.opened;
      await client.subscribeResource({ uri });
      return { end: async () => void (await client.unsubscribeResource({ uri })) };
    },
    async callWithLog(level, name, settled) {
      if (modern) return client.callTool({ name, arguments: {}, _meta: { [LOG_LEVEL]: level } });
      await client.setLoggingLevel(level);
      await settled?.(level);
      return call(name);
    },
    close: () => client.close(),
  };
}

const me = { name: 'interop-test', version: '1.0.0' };
const questions = [
  ['elicitation/create', ElicitRequestSchema],
  ['sampling/createMessage', CreateMessageRequestSchema],
  ['roots/list', ListRootsRequestSchema],
] as const;
const modes = { 'v2 legacy': 'legacy', 'v2 auto': 'auto', 'v2 pinned': { pin: NEWEST } } as const;

function open(
  url: string,
  { who, over, fetch }: { who: Who; over: Over; fetch: typeof globalThis.fetch },
): Transport {
  const first = who === 'v1';
  switch (over) {
    case 'stdio':
      return new (first ? StdioV1 : StdioV2)({ command: process.execPath, args: [fixture, 'stdio'] });
    case 'http':
      return new (first ? HttpV1 : HttpV2)(new URL(url), { fetch });
    case 'sse':
      return new (first ? SseV1 : SseV2)(new URL('/sse', url));
    case 'websocket':
      return new WebSocketV1(new URL(url.replace('http', 'ws')));
  }
}

/** A fetch that reports when the client's GET stream is open. */
function standingStream(): { readonly fetch: typeof fetch; readonly opened: Promise<void> } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    opened,
    async fetch(input, init) {
      const response = await fetch(input, init);
      if (init?.method === 'GET' && response.ok) open();
      return response;
    },
  };
}

/** Waits for this notification of the server, and returns it. */
export function untilNotified(
  { notifications }: Pick<Connection, 'notifications'>,
  method: string,
  matches: (params: Record<string, unknown>) => boolean = () => true,
): Promise<Notification> {
  return vi.waitUntil(() => notifications.find((it) => it.method === method && matches(it.params ?? {})), {
    timeout: 5000,
    interval: 5,
  });
}
