import { rmSync, writeFileSync } from 'node:fs';
import { type Change, type Client, connect, type TaskHandle } from 'fullmcp/client';
import type { Events } from '../../../support/http/http.js';
import { modern } from '../../../support/http/modern.js';
import { openSession, type SessionClient, sessionClient } from '../../../support/http/sessions.js';
import { until } from '../../../support/until.js';
import { type Replica, Replicas } from './replicas.js';

// Two replicas, with work of every kind under way: what an outage of their engine meets.

// biome-ignore lint/suspicious/noExplicitAny: what a peer sent, to be matched against
export type Message = Record<string, any>;

/** Two replicas that share an engine, and work that is under way at the first of them. */
export interface OpenWork extends AsyncDisposable {
  readonly replicas: Replicas;
  readonly a: Replica;
  readonly b: Replica;
  readonly atA: Client;
  readonly atB: Client;
  /** A task in its second step, until `finishStep` is called. */
  readonly job: TaskHandle;
  readonly finishStep: () => void;
  /** A task that waits for an answer, and that no replica holds. */
  readonly form: TaskHandle;
  /** A session of 2025-11-25 that both replicas serve, and the stream of a call that has asked its client. */
  readonly session: { readonly a: SessionClient; readonly b: SessionClient };
  readonly stream: Events;
  readonly question: { readonly id: unknown; readonly event: string };
  /** The sealed state of a call of 2026-07-28 that has asked its client. */
  readonly requestState: unknown;
  /** The changes that a subscriber of the first replica has heard of. */
  readonly changes: readonly Change[];
  /** The result of a call with the key `before`. */
  readonly paid: unknown;
}

/** The URI of a resource that the subscriber watches. */
export const NEWS = 'outage://news';
/** The answer to every question. */
export const ANSWER = { action: 'accept', content: { code: '42' } } as const;
const can = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };

/** Starts a replica. On a busy machine, the engine may be late with its first reply, and a replica that starts ends then. */
async function started(replicas: Replicas): Promise<Replica> {
  for (let attempt = 1; ; attempt++)
    try {
      return await replicas.start();
    } catch (error) {
      if (attempt === 5) throw error;
    }
}

/** Starts two replicas and opens work of every kind. */
export async function openWork(env: Readonly<Record<string, string>>): Promise<OpenWork> {
  const replicas = new Replicas('fixtures/replica.mjs', env);
  const clients: Client[] = [];
  async function clientOf({ url }: Replica): Promise<Client> {
    const client = await connect(url, { elicit: () => ANSWER });
    clients.push(client);
    return client;
  }
  async function close(): Promise<void> {
    await Promise.all(clients.map((client) => client.close()));
    await replicas.close();
  }
  try {
    const [a, b] = await Promise.all([started(replicas), started(replicas)]);
    const [atA, atB] = await Promise.all([clientOf(a), clientOf(b)]);
    writeFileSync(replicas.gate, '');
    const job = await atA.startTool('job', { id: 'job' });
    await until('the job is in its second step', () => replicas.effects().some(({ step }) => step === 2));
    const form = await atA.startTool('form', { id: 'form' });
    await until('the form asks', async () => (await form.status()).status === 'input_required');
    const session = await openSession(a.url, '2025-11-25', { elicitation: {} });
    const stream = await session.stream('tools/call', { name: 'ask', arguments: { id: 'session' } });
    const { message, event } = await nextMessage(stream);
    const changes: Change[] = [];
    await atA.subscribe({ resources: true, uris: [NEWS] }, { onChange: (change) => changes.push(change) });
    return {
      ...{ replicas, a, b, atA, atB, job, form, stream, changes },
      finishStep: () => rmSync(replicas.gate),
      session: { a: session, b: sessionClient(b.url, session.id) },
      question: { id: message['id'], event: event as string },
      requestState: (await askModern(a)).requestState,
      paid: (await atA.callTool('pay', { id: 'before' }, { idempotencyKey: 'before' })).data,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Makes a call of 2026-07-28 that asks, or answers its question. */
export async function askModern({ url }: Pick<Replica, 'url'>, more: object = {}): Promise<Message> {
  const params = { name: 'ask', arguments: { id: 'modern' }, ...more };
  const { text } = await modern(url, 'tools/call', params, { meta: can });
  return JSON.parse(text).result as Message;
}

/** The next message of a stream that is not progress, and the id of its event. */
export async function nextMessage(events: Events): Promise<{ message: Message; event: string | undefined }> {
  for (;;) {
    const event = await events.next();
    if (event === undefined) throw new Error('The stream has ended');
    const message = event.data === '' ? undefined : (JSON.parse(event.data) as Message);
    if (message !== undefined && message['method'] !== 'notifications/progress')
      return { message, event: event.id };
  }
}
