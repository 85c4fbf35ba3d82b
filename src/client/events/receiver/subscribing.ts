// A subscription of a receiver at a server: made, refreshed, given a new secret, ended.

import { callAt } from '../../../async/call-at.js';
import { backoff } from '../../../async/delay.js';
import { Turns } from '../../../async/turns.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import { McpError, toMcpError } from '../../../protocol/errors.js';
import { eventSettingsOf, failureOf } from '../../../protocol/events/dialects.js';
import { eventMethods } from '../../../protocol/events/offer.js';
import { makeSecret } from '../../../protocol/events/signature.js';
import { outlookOf, toEventError } from '../failures.js';
import { readCursor } from '../read-events.js';
import type { SubscribingClient, WebhookSubscription } from './model.js';
import { REF_PARAM, refOf, type WebhookRecord, type WebhookRecords } from './records.js';

export interface SubscribingParts {
  readonly client: SubscribingClient;
  readonly name: string;
  readonly args: JsonObject;
  readonly url: string | URL;
  readonly ttlMs: number | null | undefined;
  /** The secret for new subscriptions; undefined for one of their own. */
  readonly secret: string | undefined;
  readonly records: WebhookRecords;
  readonly onGap: (cursor: string | null, id: string) => void;
  /** The server no longer wants the subscription. */
  readonly onTerminated: (error: McpError, id: string) => void;
  readonly problem: (message: string, cause?: unknown) => void;
  /** Called when the subscription is no longer refreshed. */
  readonly onEnd: () => void;
}

/** The part of its grant after which a subscription is refreshed. */
const REFRESH_AT = 0.6;
const MIN_REFRESH_MS = 1000;
/** A subscription is refreshed at least this often, so that its position is not old. */
const MAX_REFRESH_MS = 3_600_000;
/** The time for which an older secret is accepted: servers sign with both for a while. */
const GRACE_MS = 86_400_000;
/** A grant that is over when it arrives comes from another clock. */
const UNKNOWN_REFRESH_MS = 30_000;

/** One subscription at a server, which is refreshed until it is ended. */
export class Subscribing {
  readonly #parts: SubscribingParts;
  readonly #base: Pick<WebhookRecord, 'server' | 'name' | 'args' | 'url'>;
  readonly #turns = new Turns();
  #cancel: (() => void) | undefined;
  #failures = 0;
  #isOver = false;
  #end!: (reason: McpError | undefined) => void;
  #record: WebhookRecord | undefined;
  /** The name of the subscription. */
  readonly ref: string;
  readonly ended: Promise<McpError | undefined> = new Promise((resolve) => {
    this.#end = resolve;
  });

  constructor(parts: SubscribingParts) {
    this.#parts = parts;
    const { client, name, args } = parts;
    const server = client.info().target;
    const url = toUrl(parts.url);
    this.ref = refOf({ server, name, args, url: url.href });
    url.searchParams.set(REF_PARAM, this.ref);
    this.#base = { server, name, args, url: url.href };
  }

  /** Makes the subscription, or continues that of an earlier run. */
  async start(): Promise<WebhookSubscription> {
    const { client, records } = this.#parts;
    if (eventSettingsOf(client.server.capabilities as JsonObject) === undefined)
      throw new McpError(
        'method_not_found',
        'The server does not declare events, so it was not asked for any',
      );
    try {
      await this.#turns.take(() => this.#subscribe());
    } catch (thrown) {
      const error = toEventError(thrown);
      this.#over(error);
      // A subscription that never was leaves nothing behind.
      if ((await records.get(this.ref))?.id === null) await records.delete(this.ref);
      throw error;
    }
    const self = this;
    return {
      get id() {
        return self.#record?.id ?? '';
      },
      get refreshBefore() {
        const until = self.#record?.refreshBefore ?? null;
        return until === null ? null : new Date(until);
      },
      ended: this.ended,
      rotate: () => this.#turns.take(() => this.#rotate()),
      unsubscribe: () => this.#turns.take(() => this.#unsubscribe()),
      close: () => this.close(),
      [Symbol.asyncDispose]: () => this.close(),
    };
  }

  async close(): Promise<void> {
    this.#over(undefined);
    await this.#turns.idle;
  }

  /** The server has ended the subscription by a webhook. Returns whether the subscription goes on all the same. */
  terminated(error: McpError): boolean {
    if (outlookOf(error) !== 'list') {
      this.#over(error);
      return false;
    }
    void this.#turns.take(() => this.#refresh());
    return true;
  }

  /** Sends `events/subscribe`, which makes, refreshes and renews a subscription, and stores what the server grants. */
  async #subscribe(): Promise<void> {
    const { client, records, name, args, ttlMs, onGap } = this.#parts;
    const record = await this.#prepare();
    const outcome = await client.request(eventMethods.subscribe, {
      name,
      arguments: args,
      delivery: { mode: 'webhook', url: record.url, secret: record.secrets[0] },
      cursor: record.cursor,
      ...(ttlMs !== undefined && { ttlMs }),
    });
    const { id, refreshBefore } = outcome;
    if (typeof id !== 'string' || id === '')
      throw new McpError('bad_response', 'The answer to events/subscribe needs "id", a string');
    const until = typeof refreshBefore === 'string' ? Date.parse(refreshBefore) : Number.NaN;
    const grantMs = Number.isNaN(until) ? Number.POSITIVE_INFINITY : until - Date.now();
    const granted = {
      id,
      refreshBefore: grantMs > 0 && Number.isFinite(grantMs) ? until : null,
      cursor: readCursor(outcome) ?? null,
    };
    this.#record = await records.change(this.ref, (current = record) => ({ ...current, ...granted }));
    this.#failures = 0;
    this.#refreshIn(grantMs > 0 ? Math.max(grantMs * REFRESH_AT, MIN_REFRESH_MS) : UNKNOWN_REFRESH_MS);
    if (outcome['truncated'] === true) onGap(granted.cursor, id);
  }

  /** The stored subscription, with the secret that it should have. */
  async #prepare(): Promise<WebhookRecord> {
    const { records, secret } = this.#parts;
    const fresh = (): WebhookRecord => ({
      ...this.#base,
      secrets: [secret ?? makeSecret()],
      previousUntil: 0,
      id: null,
      refreshBefore: null,
      cursor: null,
    });
    const record = await records.change(this.ref, (current) => {
      if (current === undefined) return fresh();
      return secret === undefined || current.secrets[0] === secret ? undefined : withSecret(current, secret);
    });
    return record as WebhookRecord;
  }

  async #rotate(): Promise<void> {
    const { records, secret } = this.#parts;
    if (secret !== undefined)
      throw new McpError(
        'invalid_request',
        'The receiver has a secret that the program has named. Give it a new one in front of that one, and subscribe again.',
      );
    await records.change(this.ref, (current) => current && withSecret(current, makeSecret()));
    await this.#subscribe();
  }

  async #unsubscribe(): Promise<void> {
    const { client, records, name, args } = this.#parts;
    try {
      const delivery = { mode: 'webhook', url: this.#base.url };
      await client.request(eventMethods.unsubscribe, { name, arguments: args, delivery });
    } catch (error) {
      // The server no longer has it.
      if (failureOf(toMcpError(error).number) !== 'not_found') throw error;
    }
    this.#over(undefined);
    await records.delete(this.ref);
  }

  #refreshIn(ms: number): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#isOver) return;
    const at = Date.now() + Math.min(ms, MAX_REFRESH_MS);
    this.#cancel = callAt(at, () => void this.#turns.take(() => this.#refresh()));
  }

  async #refresh(): Promise<void> {
    if (this.#isOver) return;
    const { name, problem, records, onTerminated } = this.#parts;
    const id = this.#record?.id ?? '';
    try {
      await this.#subscribe();
    } catch (thrown) {
      const error = toEventError(thrown);
      if (this.#isOver) return;
      if (error.code === 'connection_closed' || !(await this.#isWorthwhile(error))) {
        this.#over(error);
        if (error.code === 'connection_closed') return;
        await records.delete(this.ref);
        return onTerminated(error, id);
      }
      problem(`The webhook subscription to ${name} could not be refreshed; it is tried again`, error);
      this.#refreshIn(backoff(this.#failures++, { baseMs: 1000, maxMs: 60_000 }));
    }
  }

  /** Whether a refresh may succeed later. A type that has changed may be listed still. */
  async #isWorthwhile(error: McpError): Promise<boolean> {
    const outlook = outlookOf(error);
    if (outlook !== 'list') return outlook === 'retry';
    try {
      for await (const { name, delivery } of this.#parts.client.events())
        if (name === this.#parts.name) return delivery.includes('webhook');
      return false;
    } catch (failure) {
      return outlookOf(toMcpError(failure)) === 'retry';
    }
  }

  #over(reason: McpError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancel?.();
    this.#parts.onEnd();
    this.#end(reason);
  }
}

function withSecret(record: WebhookRecord, secret: string): WebhookRecord {
  return {
    ...record,
    secrets: [secret, ...record.secrets.filter((each) => each !== secret)].slice(0, 2),
    previousUntil: Date.now() + GRACE_MS,
  };
}

function toUrl(url: string | URL): URL {
  if (URL.canParse(String(url))) {
    const parsed = new URL(url);
    const { protocol, username, password, hash } = parsed;
    if (['https:', 'http:'].includes(protocol) && username === '' && password === '' && hash === '')
      return parsed;
  }
  throw new McpError(
    'invalid_params',
    'The "url" of a receiver must be an absolute URL of the web, without a user and without a fragment: servers send events to it',
  );
}
