// The JetStream stream that keeps the events: its configuration, and reading and writing single messages.

import { type NatsClient, NatsFailure, NatsNotReady } from '../connection/client.js';
import { loadJetStream, loadTransport } from '../connection/load.js';
import type {
  JetStreamManager,
  JetStreamPublisher,
  NatsHeaders,
  StoredMessage,
  StreamSettings,
} from '../connection/nats-types.js';
import type { NatsSource } from '../connection/open.js';
import { subjectToken } from '../connection/subjects.js';
import { MSG_ID } from './event-headers.js';
import { type NatsEventLimits, streamConfig } from './stream-config.js';

/** A message to store. */
export interface NewMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** A repeated attempt with the same id is stored once. */
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Parts {
  readonly client: NatsClient;
  readonly js: JetStreamPublisher;
  readonly jsm: JetStreamManager;
  readonly newHeaders: () => NatsHeaders;
}

const IN_USE_WITH_OTHER_CONFIG = 10058;
const STREAM_NOT_FOUND = 10059;
/** A server that was restarted takes a while to find its streams again. Until then, it says that there are none. */
const RECOVERY_MS = 1000;

/** The stream of all events, in JetStream. It is made when it is first used, and again if it is gone. */
export class StoredEvents {
  readonly name: string;
  readonly #source: NatsSource;
  readonly #prefix: string;
  readonly #config: StreamSettings;
  #parts: Promise<Parts> | undefined;

  constructor(source: NatsSource, prefix: string, limits: Required<NatsEventLimits>) {
    this.#source = source;
    this.#prefix = prefix;
    this.name = `${prefix.replaceAll('.', '_')}-events`;
    this.#config = streamConfig(this.name, prefix, limits);
  }

  /** The subject of the events of a stream. */
  eventsOf(stream: string): string {
    return `${this.#prefix}.events.${subjectToken(stream)}`;
  }

  /** The subject on which JetStream publishes the events of a stream again, once they are stored. */
  liveOf(stream: string): string {
    return `${this.#prefix}.live.${subjectToken(stream)}`;
  }

  /** The subject of a part of an event that is larger than a message may be; without `part`, of all parts of a stream. */
  partOf(stream: string, part?: string): string {
    return `${this.#prefix}.parts.${subjectToken(stream)}.${part ?? '>'}`;
  }

  async client(): Promise<NatsClient> {
    return (await this.#open()).client;
  }

  /** Stores a message. Returns its sequence. */
  async store({ subject, data, id, headers }: NewMessage): Promise<number> {
    const { client, js, newHeaders } = await this.#open();
    return client.persist('The event was not stored', async (leftMs) => {
      const own = newHeaders();
      for (const [name, value] of Object.entries(headers)) own.set(name, value);
      try {
        const { seq } = await js.publish(subject, data, { msgID: id, headers: own, timeout: leftMs });
        return seq;
      } catch (error) {
        // Nobody listens to the subject: the stream is not there, or not there yet.
        const isMissing = (error as Error).name === 'JetStreamNotEnabled';
        if (isMissing && hasRecovered(client, leftMs)) await this.#ensure(await this.#open());
        throw error;
      }
    });
  }

  /** The newest message of a subject, as the leader of the stream knows it. */
  last(subject: string): Promise<StoredMessage | undefined> {
    return this.#read((jsm) => jsm.streams.getMessage(this.name, { last_by_subj: subject }));
  }

  /** The message with a sequence, if it is there. */
  at(seq: number): Promise<StoredMessage | undefined> {
    return this.#read((jsm) => jsm.streams.getMessage(this.name, { seq }));
  }

  /**
   * The first message of a subject with at least this sequence. Any replica may answer, and one may lag behind, so the leader
   * has the last word.
   */
  async next(subject: string, seq: number): Promise<StoredMessage | undefined> {
    const query = { seq, next_by_subj: subject };
    return (
      (await this.#read((jsm) => jsm.direct.getMessage(this.name, query))) ??
      (await this.#read((jsm) => jsm.streams.getMessage(this.name, query)))
    );
  }

  /** The newest sequence of all. 0 if the stream was lost. */
  async lastSeq(): Promise<number> {
    const { client, jsm } = await this.#open();
    const info = await client.persist('The event log cannot be read', (leftMs) =>
      jsm.streams.info(this.name).catch(ifMissing(client, leftMs)),
    );
    return info?.state.last_seq ?? 0;
  }

  async purge(subject: string): Promise<void> {
    const { client, jsm } = await this.#open();
    await client.persist('The stream was not dropped', (leftMs) =>
      jsm.streams.purge(this.name, { filter: subject }).catch(ifMissing(client, leftMs)),
    );
  }

  /** Makes the stream, or gives it the limits of the options. Any number of processes may do so at once. */
  async ensure(): Promise<void> {
    const parts = await this.#open();
    await parts.client.persist('The stream of events cannot be made in JetStream', () => this.#ensure(parts));
  }

  async #ensure({ jsm }: Parts): Promise<void> {
    const { config: actual } = await jsm.streams.add(this.#config).catch((error: unknown) => {
      const { code, message } = error as { readonly code?: number; readonly message: string };
      if (code === IN_USE_WITH_OTHER_CONFIG) return jsm.streams.update(this.name, this.#config);
      if (!message.startsWith('insufficient')) throw error;
      throw new NatsFailure(
        `JetStream has no room for the event log (${message}). Lower \`events.maxBytes\`, or raise max_file or max_mem of nats-server.`,
      );
    });
    // A server that does not know a field drops it silently.
    if (actual.republish?.dest === undefined || !actual.allow_direct)
      throw new NatsFailure(
        'The NATS server ignores settings of streams that the event log needs. Update it to 2.9 or later.',
      );
  }

  async #read<T>(read: (jsm: JetStreamManager) => Promise<T | null>): Promise<T | undefined> {
    const { client, jsm } = await this.#open();
    return client.persist(
      'The event log cannot be read',
      async (leftMs) => (await read(jsm).catch(ifMissing(client, leftMs))) ?? undefined,
    );
  }

  #open(): Promise<Parts> {
    this.#parts ??= this.#load().catch((error: unknown) => {
      this.#parts = undefined;
      throw error;
    });
    return this.#parts;
  }

  async #load(): Promise<Parts> {
    const client = await this.#source.get();
    const { jetstream, jetstreamManager } = await loadJetStream();
    const { headers } = await loadTransport();
    const timeout = client.timeoutMs;
    const jsm = await jetstreamManager(client.nc, { timeout, checkAPI: false });
    return { client, jsm, js: jetstream(client.nc, { timeout }), newHeaders: () => headers() };
  }
}

/** The id that a message was stored under. */
export function idOf(headers: NatsHeaders | undefined): string {
  return headers?.get(MSG_ID) ?? '';
}

/** Whether a server that was restarted has had the time to find its streams, in the course of an operation. */
function hasRecovered({ timeoutMs }: NatsClient, leftMs: number): boolean {
  return timeoutMs - leftMs >= Math.min(RECOVERY_MS, timeoutMs / 2);
}

/** Handles the error of a request: a stream that is gone has no messages. */
function ifMissing(client: NatsClient, leftMs: number): (error: unknown) => undefined {
  return (error) => {
    if ((error as { code?: number }).code !== STREAM_NOT_FOUND) throw error;
    if (!hasRecovered(client, leftMs)) throw new NatsNotReady('the stream of events is not there');
    return undefined;
  };
}
