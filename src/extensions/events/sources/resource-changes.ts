// The changes of resources as events: each change that this process announces is kept once, under one id.

import { settlesWithin } from '../../../async/deadline.js';
import type { BackoffOptions } from '../../../async/delay.js';
import { Lifetime } from '../../../async/lifetime.js';
import { Retries } from '../../../async/retries.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import type { EventPluginParts } from '../../../server/handle/event-host.js';
import {
  type Announcement,
  type ChangeMessage,
  changeOf,
  type Recipient,
} from '../../../server/state/changes.js';
import type { SourceParts } from '../source-host.js';

/** The parts of a `ResourceChanges`. */
export interface ResourceChangesParts extends Pick<EventPluginParts, 'events' | 'log'> {
  readonly emit: SourceParts['emit'];
}

/** An event that is to be kept. */
interface Pending {
  readonly name: string;
  readonly data: JsonObject;
  readonly options: { readonly eventId: string; readonly timestamp: Date };
  /** The change that it is made of. A change for many callers comes in several messages. */
  readonly change: Announcement;
  /** The callers that are told; undefined if every subscriber is. */
  readonly to: Recipient[] | undefined;
}

const RETRY: BackoffOptions = { baseMs: 100, maxMs: 10_000, jitter: [0.75, 1] };
/** The most changes that wait for the store, and those of them that are written at the same time. */
const MAX_WAITING = 10_000;
const BATCH = 500;
/** The time at the end for changes that are not kept yet. */
const END_MS = 1000;

/** Keeps the changes of resources that a process announces. */
export class ResourceChanges {
  readonly #parts: ResourceChangesParts;
  readonly #lifetime = new Lifetime();
  #waiting: Pending[] = [];
  #keeping: Promise<void> | undefined;
  #isLosing = false;

  constructor(parts: ResourceChangesParts) {
    this.#parts = parts;
  }

  /** Keeps a change as an event of each type that has its URI. Resolves when everything so far is kept, or cannot be. */
  async keep(message: ChangeMessage): Promise<void> {
    const change = changeOf(message);
    if (change.kind !== 'resource') return;
    const to = message.kind === 'addressed' ? message.to : undefined;
    for (const { name, resource, mounted } of this.#parts.events.values()) {
      // A mounted server tells its own changes.
      const values = mounted === undefined ? resource?.match(change.uri) : undefined;
      if (values !== undefined) this.#add({ name, change, to, data: { ...values, uri: change.uri } });
    }
    await this.#keeping;
  }

  /** Waits a second for changes that are not kept yet, and gives up the others. */
  async end(): Promise<void> {
    if (this.#keeping !== undefined) await settlesWithin(this.#keeping, END_MS);
    this.#lifetime.end('closed');
    await this.#keeping;
  }

  #add({
    to,
    ...event
  }: Omit<Pending, 'options' | 'to'> & { readonly to: readonly Recipient[] | undefined }): void {
    const last = this.#waiting.findLast(({ name }) => name === event.name);
    if (last?.to !== undefined && to !== undefined && last.change === event.change)
      return void last.to.push(...to);
    if (this.#waiting.length >= MAX_WAITING) return this.#lose();
    const options = { eventId: `evt_${crypto.randomUUID().replaceAll('-', '')}`, timestamp: new Date() };
    this.#waiting.push({ ...event, options, to: to && [...to] });
    this.#keeping ??= this.#keepAll().finally(() => {
      this.#keeping = undefined;
    });
  }

  #lose(): void {
    if (!this.#isLosing)
      this.#parts.log(
        'error',
        `Changes of resources are not kept as events: ${MAX_WAITING} others wait for the store. Subscribers of the resources are told.`,
      );
    this.#isLosing = true;
  }

  async #keepAll(): Promise<void> {
    // The messages of one change come in one turn.
    await undefined;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH);
      await this.#keepBatch(batch);
    }
    this.#isLosing = false;
  }

  /** Emits events until all are kept. Each keeps its id, so that none is told twice. */
  async #keepBatch(batch: readonly Pending[]): Promise<void> {
    const retries = new Retries({ ...RETRY, until: this.#lifetime, unref: true });
    let rest = batch;
    let failure: unknown;
    while (rest.length > 0 && (await retries.next())) {
      const outcomes = await Promise.allSettled(
        rest.map(({ name, data, options, to }) => this.#parts.emit(name, data, options, to)),
      );
      const failed = rest.filter((_, at) => outcomes[at]?.status === 'rejected');
      const reasonOf = (event: Pending): unknown =>
        (outcomes[rest.indexOf(event)] as PromiseRejectedResult).reason;
      for (const event of failed) failure = reasonOf(event);
      if (failed.length > 0 && retries.failures === 0) this.#report(failed.length, failure);
      // The others are refused each time.
      rest = failed.filter(
        (event) => !(reasonOf(event) instanceof TypeError || reasonOf(event) instanceof RangeError),
      );
    }
    if (rest.length > 0) this.#report(rest.length, failure);
  }

  #report(count: number, error: unknown): void {
    const consequence = this.#lifetime.ended ? 'They are lost' : 'The server retries';
    this.#parts.log(
      'error',
      `${count} changes of resources could not be kept as events. ${consequence}.`,
      error,
    );
  }
}
