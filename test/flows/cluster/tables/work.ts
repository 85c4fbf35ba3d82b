import type { Events } from '../../../support/http/http.js';
import { until } from '../../../support/until.js';
import type { ReplicaSet } from '../replica-set.js';

// Words of the tables about the server `work` of the replicas.

// biome-ignore lint/suspicious/noExplicitAny: what a peer sent, to be matched against
export type Message = Record<string, any>;

/** A message of a stream, and the id of its event. */
export interface Received {
  readonly id: string | undefined;
  readonly message: Message;
}

/** The next message of a stream. */
export async function next(events: Events): Promise<Received> {
  for (;;) {
    const event = await events.next();
    if (event === undefined) throw new Error('The stream has ended');
    if (event.data !== '') return { id: event.id, message: JSON.parse(String(event.data)) as Message };
  }
}

/** The next message of a stream that is neither progress nor a log message. */
export async function nextOther(events: Events): Promise<Received> {
  for (;;) {
    const received = await next(events);
    if (!['notifications/progress', 'notifications/message'].includes(received.message['method']))
      return received;
  }
}

/** The messages that are left on a stream. */
export async function rest(events: Events): Promise<readonly Message[]> {
  return (await events.rest()).filter(({ data }) => data !== '').map(({ data }) => JSON.parse(data));
}

/** The answers of a cooperative client. */
export function answerTo({ method, params }: Message): Message {
  if (method === 'roots/list') return { roots: [{ uri: 'file:///work' }] };
  if (method === 'sampling/createMessage')
    return { role: 'assistant', model: 'small', content: { type: 'text', text: 'Ada adds up' } };
  const fields = Object.keys(params.requestedSchema.properties);
  const values: Message = { name: 'Ada', ok: true };
  return { action: 'accept', content: Object.fromEntries(fields.map((field) => [field, values[field]])) };
}

/** The result of `commission` with these answers. */
export const commissioned = {
  name: 'Ada',
  slogan: 'Ada adds up',
  folders: ['file:///work'],
  sure: 'accept',
};

/** A client that can be asked anything. */
export const able = { elicitation: {}, sampling: {}, roots: {} };

let last = 0;

/** A name for a gate that no other test uses. */
export function freshKey(): string {
  return `key ${++last}`;
}

/** Waits until a replica has written a line, and returns the replica. */
export async function untilRecorded(
  replicas: () => ReplicaSet,
  what: string,
  matches: Message = {},
): Promise<number> {
  const find = () =>
    replicas()
      .entries(what)
      .find((entry) => Object.entries(matches).every(([name, value]) => entry[name] === value));
  await until(`a replica has recorded "${what}"`, () => find() !== undefined);
  return find()?.replica as number;
}

/** The replica that got the newest request with this method. */
export function replicaOf(replicas: () => ReplicaSet, rpc: string): number | undefined {
  return replicas()
    .passed('work')
    .filter((passed) => passed.rpc === rpc)
    .at(-1)?.replica;
}
