// The event log on JetStream: a subject for each stream, and no consumers.

import { every } from '../../../async/every.js';
import { inSlices } from '../../../async/in-slices.js';
import {
  checkEventSize,
  type EventLog,
  type FollowedStream,
  type LoggedEvent,
} from '../../../state/event-log.js';
import { loadTransport } from '../connection/load.js';
import type { NatsSource } from '../connection/open.js';
import { isStorableName } from '../connection/subjects.js';
import { DROPPED, LAST, PARTS, type PlacedEvent } from './event-headers.js';
import { type EventPosition, eventId, newNonce, readEventId } from './event-ids.js';
import { Follower } from './follower.js';
import { idOf, StoredEvents } from './stored-events.js';
import { largestEvent, type NatsEventLimits } from './stream-config.js';
import { StreamWatch } from './stream-watch.js';

/** An event log, and the preparation that `start` of the cluster makes. */
export interface NatsEventLog extends EventLog {
  /** Makes the stream in JetStream. */
  readonly prepare: () => Promise<void>;
}

/** The space for headers in a message. */
const HEADER_BYTES = 4096;
/**
 * The events of a server that dies between storing and publishing again are found this much later. So are those of a subscription
 * that the server forgot.
 */
const LOOK_AGAIN_MS = 10_000;

/**
 * Makes an event log. A follower reads what it missed message by message, and hears of new events over a core subscription, which
 * all followers of a stream in this process share: a consumer in JetStream for each would cost the server far more.
 */
export function natsEventLog(
  source: NatsSource,
  prefix: string,
  limits: Required<NatsEventLimits>,
): NatsEventLog {
  const events = new StoredEvents(source, prefix, limits);
  const largest = largestEvent(limits);
  const watches = new Map<string, StreamWatch>();
  let stopLooking: (() => void) | undefined;
  let lastLooked: number | undefined;
  let isListening = false;
  let isClosed = false;

  async function open(): ReturnType<StoredEvents['client']> {
    if (isClosed) throw new Error('The event log is closed.');
    const client = await events.client();
    if (!isListening) {
      isListening = true;
      client.listen({ up: () => void afterReconnect() });
    }
    return client;
  }

  async function watch(stream: string): Promise<StreamWatch> {
    const client = await open();
    const existing = watches.get(stream);
    const own = existing ?? new StreamWatch(client, events.liveOf(stream), () => watches.delete(stream));
    watches.set(stream, own);
    stopLooking ??= every(LOOK_AGAIN_MS, lookAgain);
    own.retain();
    try {
      await own.stands();
      return own;
    } catch (error) {
      own.release();
      throw error;
    }
  }

  async function lookAgain(): Promise<void> {
    if (watches.size === 0) {
      stopLooking?.();
      stopLooking = undefined;
      return;
    }
    // While nothing was stored at all, one question is enough for all streams.
    const last = await events.lastSeq().catch(() => undefined);
    if (last === undefined || last === lastLooked) return;
    lastLooked = last;
    await inSlices(watches.values(), (one) => one.recheck());
  }

  // A server that lost its data counts from the beginning: no later event would be newer than those that were read.
  async function afterReconnect(): Promise<void> {
    const rechecks = [...watches.values()].map((one) => one.recheckLater());
    try {
      const last = await events.lastSeq();
      for (const recheck of rechecks) recheck(last);
    } catch {
      for (const one of watches.values()) one.recheck();
    }
  }

  async function storeParts(
    stream: string,
    nonce: string,
    data: Uint8Array,
    partBytes: number,
  ): Promise<number> {
    const count = Math.ceil(data.length / partBytes);
    for (let at = 0; at < count; at++) {
      await events.store({
        subject: events.partOf(stream, `${nonce}.${at}`),
        data: data.subarray(at * partBytes, (at + 1) * partBytes),
        id: `${nonce}.${at}`,
        headers: {},
      });
    }
    return count;
  }

  async function readParts(stream: string, nonce: string, count: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for (let at = 0; at < count; at++) {
      const part = await events.last(events.partOf(stream, `${nonce}.${at}`));
      if (part === undefined) throw new Error('A part of a large event was dropped from the log.');
      parts.push(part.data);
    }
    return Buffer.concat(parts);
  }

  async function toEvent(stream: string, { seq, headers, data }: PlacedEvent): Promise<LoggedEvent> {
    const nonce = idOf(headers);
    const count = Number(headers?.get(PARTS) || 0);
    const bytes = count > 0 ? await readParts(stream, nonce, count) : data;
    return {
      id: eventId({ stream, seq, nonce }),
      data: new TextDecoder().decode(bytes),
      last: headers?.has(LAST) ?? false,
    };
  }

  async function follow(after: EventPosition, signal: AbortSignal): Promise<FollowedStream | undefined> {
    const { stream, nonce } = after;
    const subject = events.eventsOf(stream);
    const own = await watch(stream);
    try {
      const last = await events.last(subject);
      if (last === undefined) {
        own.release();
        return undefined;
      }
      const found = last.seq === after.seq ? last : await events.at(after.seq);
      const isKnown = found?.subject === subject && idOf(found.header) === nonce;
      const follower = new Follower({
        ...{ events, stream, subject, signal },
        // Of an unknown event it is not known what came before it, so nothing that is there is left out.
        after: isKnown ? after.seq : after.seq > last.seq ? 0 : after.seq - 1,
        isAnchored: isKnown,
        toEvent: (event) => toEvent(stream, event),
        release: () => own.remove(follower),
      });
      own.add(follower);
      if (isKnown && found.header.has(LAST)) follower.events.end();
      return { stream, gap: !isKnown, events: follower.events };
    } catch (error) {
      own.release();
      throw error;
    }
  }

  return {
    prepare: () => events.ensure(),
    async append(stream, text, { last = false } = {}) {
      const subject = events.eventsOf(stream);
      const client = await open();
      const data = new TextEncoder().encode(text);
      checkEventSize(data.length, ...largest);
      const nonce = newNonce();
      const partBytes = Math.max(1, client.maxPayload - HEADER_BYTES);
      const parts = data.length > partBytes ? await storeParts(stream, nonce, data, partBytes) : 0;
      const headers = {
        ...(last && { [LAST]: '1' }),
        ...(parts > 0 && { [PARTS]: String(parts) }),
      };
      const seq = await events.store({
        subject,
        data: parts > 0 ? new Uint8Array() : data,
        id: nonce,
        headers,
      });
      return eventId({ stream, seq, nonce });
    },
    async follow(after, signal) {
      const position = readEventId(after);
      return position === undefined || !isStorableName(position.stream)
        ? undefined
        : follow(position, signal);
    },
    async drop(stream) {
      const subject = events.eventsOf(stream);
      const client = await open();
      await events.purge(subject);
      await events.purge(events.partOf(stream));
      const { headers } = await loadTransport();
      const notice = headers();
      notice.set(DROPPED, '1');
      client.nc.publish(events.liveOf(stream), '', { headers: notice });
    },
    async close() {
      isClosed = true;
      stopLooking?.();
      for (const one of watches.values()) one.end();
      watches.clear();
    },
  };
}
