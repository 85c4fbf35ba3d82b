// Emits events: checks them, and writes those that wait at the same time together.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { MAX_DEPTH, parseJson, RefusedJson } from '../../jsonrpc/parse.js';
import { digestOf } from '../../protocol/canonical.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { assertJson } from '../../protocol/encoding/json-value.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { MAX_WEBHOOK_BYTES } from '../../protocol/events/wire.js';
import { explainLater } from '../../schema/explain-later.js';
import type { CompiledEvent } from '../../server/catalog/events.js';
import type { EventPluginParts } from '../../server/handle/event-host.js';
import type { Recipient } from '../../server/state/changes.js';
import type { EmitOptions, Emitted } from '../../server/state/emitting.js';
import type { StoreChange } from '../../state/store.js';
import type { TransactionClient } from '../../state/transaction.js';
import type { Histories } from './histories.js';
import type { Appended, NewEvent } from './log/stored-event.js';
import type { SourceHost } from './source-host.js';

/** The room for the cursor in an event. */
const CURSOR = 'x'.repeat(64);
/** The most events that wait for one type. A program that emits more at the same time is told to wait. */
const MAX_WAITING = 10_000;

interface Waiting {
  readonly event: NewEvent;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
}

/** Finds the changes that belong in the write of new events of a type, by the group of its log. */
type Also = (type: CompiledEvent, group: string) => Promise<readonly StoreChange[]>;

/** The ways of an event into the store. */
export interface EmitterWays {
  readonly also: Also;
  /** Keeps an event in a transaction of the program. */
  readonly keep: SourceHost['keep'];
}

/** Emits the events of a server. */
export class Emitter {
  readonly #parts: EventPluginParts;
  readonly #histories: Histories;
  readonly #ways: EmitterWays;
  readonly #waiting = new Map<string, Waiting[]>();
  /** The types whose events are being written. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(parts: EventPluginParts, histories: Histories, ways: EmitterWays) {
    this.#parts = parts;
    this.#histories = histories;
    this.#ways = ways;
  }

  /** Emits an event. Resolves when it is kept. */
  async emit(
    name: string,
    data: unknown,
    options: EmitOptions = {},
    to?: readonly Recipient[],
  ): Promise<Emitted> {
    const type = this.#parts.events.get(name);
    if (type === undefined)
      throw new TypeError(`emit: this server has no events of the type ${quote(name, 128)}.`);
    // The type belongs to a mounted server, which tells this one of the event.
    if (type.mounted !== undefined) return type.mounted.emit(data as object, options);
    return this.tell(type, await this.read(type, data, options, to), options.transaction);
  }

  /** Keeps an event that was checked, here and in the servers that this one is mounted in. Resolves when all of them have it. */
  async tell(
    type: CompiledEvent,
    event: NewEvent,
    transaction: TransactionClient | undefined,
  ): Promise<Emitted> {
    const keeping =
      transaction === undefined ? this.#append(type, event) : this.#ways.keep(type, event, transaction);
    const [kept] = await Promise.all([keeping, ...this.#parts.relay(type.name, event, transaction)]);
    return kept;
  }

  /** Checks an event, and gives it an id and a time if it has none. */
  async read(
    type: CompiledEvent,
    data: unknown,
    options: EmitOptions,
    to?: readonly Recipient[],
  ): Promise<NewEvent> {
    return readEvent(type, { data: snapshot(data, 'The data'), to }, options);
  }

  /** Resolves when no event is being written. */
  async idle(): Promise<void> {
    await Promise.all(this.#writing.values());
  }

  #append(type: CompiledEvent, event: NewEvent): Promise<Appended> {
    const { name } = type;
    const waiting = this.#waiting.get(name) ?? [];
    if (waiting.length >= MAX_WAITING)
      throw new Error(
        `emit: ${MAX_WAITING} events of the type "${name}" wait for the store. Wait for emit before you emit more.`,
      );
    this.#waiting.set(name, waiting);
    return new Promise((resolve, reject) => {
      waiting.push({ event, resolve, reject });
      if (!this.#writing.has(name)) this.#writing.set(name, this.#write(type));
    });
  }

  /** Writes all events of a type that wait, until none is left. */
  async #write(type: CompiledEvent): Promise<void> {
    const { name } = type;
    for (;;) {
      const batch = this.#waiting.get(name) ?? [];
      this.#waiting.delete(name);
      if (batch.length === 0) {
        // At once: an event that comes a moment later would wait for a writer that has ended.
        this.#writing.delete(name);
        return;
      }
      try {
        const history = await this.#histories.of(name);
        const also = await this.#ways.also(type, history.group);
        const appended = await history.append(
          batch.map(({ event }) => event),
          also,
        );
        if (appended.some(({ isNew }) => isNew)) void this.#parts.news.publish({ name });
        for (const [at, { resolve }] of batch.entries()) resolve(appended[at] as Appended);
      } catch (error) {
        for (const { event, reject } of batch) reject(notKept(event, error));
      }
    }
  }
}

function notKept({ eventId }: NewEvent, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(
    `emit: the store may not have the event ${quote(eventId, 128)}. Emit it again with this eventId, which is told once. ${reason}`,
    { cause },
  );
}

async function readEvent(
  type: CompiledEvent,
  { data: given, to }: Pick<NewEvent, 'data' | 'to'>,
  options: EmitOptions,
): Promise<NewEvent> {
  const { meta } = options;
  const timestamp = readTimestamp(options.timestamp);
  const checked = await type.payload.validate(given);
  if (!checked.ok)
    throw new TypeError(
      `emit: the data of "${type.name}" does not fit its payload. ${await explainLater(checked.issues, type.payload, given)}`,
    );
  const data = snapshot(checked.value, 'The checked data');
  const _meta = meta === undefined ? undefined : snapshot(meta, 'The meta');
  const event: NewEvent = {
    eventId: await readId(options.eventId),
    timestamp,
    data,
    ...(_meta && { _meta }),
    ...(to && { to }),
  };
  const bytes = new TextEncoder().encode(
    JSON.stringify({ ...event, name: type.name, cursor: CURSOR }),
  ).length;
  if (bytes > MAX_WEBHOOK_BYTES)
    throw new RangeError(
      `emit: the event has ${bytes} bytes as JSON, and may have ${MAX_WEBHOOK_BYTES}. Send the key of the data instead.`,
    );
  return event;
}

/** A copy as JSON has it. Throws a TypeError if it is not an object that every peer can read. */
function snapshot(value: unknown, subject: string): JsonObject {
  assertJson(value, `emit: ${subject} cannot be sent`);
  const copy = isObject(value) ? parseJson(JSON.stringify(value), MAX_DEPTH - 8) : undefined;
  if (copy instanceof RefusedJson) throw new TypeError(`emit: ${subject} is nested too deeply.`);
  if (!isObject(copy)) throw new TypeError(`emit: ${subject} must be an object.`);
  return copy;
}

function readTimestamp(timestamp: Date | string | undefined): string {
  if (timestamp === undefined) return new Date().toISOString();
  const date = timestamp instanceof Date || WITH_ZONE.test(timestamp) ? new Date(timestamp) : undefined;
  if (date === undefined || Number.isNaN(date.getTime()))
    throw new TypeError(
      'emit: "timestamp" must be a date, or a string in ISO 8601 with a zone: 2026-11-18T12:00:00Z.',
    );
  return date.toISOString();
}

const WITH_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/;
/** Ids that a header of HTTP and a signature of a webhook can carry. The signed text has dots between its parts. */
const SAFE_ID = /^[\x21-\x2d\x2f-\x7e]{1,128}$/;

async function readId(eventId: string | undefined): Promise<string> {
  if (eventId === undefined) return `evt_${crypto.randomUUID().replaceAll('-', '')}`;
  if (typeof eventId !== 'string' || eventId === '')
    throw new TypeError('emit: "eventId" must be a string that is not empty.');
  if (SAFE_ID.test(eventId)) return eventId;
  return `evt_${encodeBase64Url(await digestOf(canonicalId(eventId)))}`;
}

// As UTF-8, all lone surrogates are the same character.
function canonicalId(eventId: string): string {
  return JSON.stringify(eventId);
}
