// One server of a group: its client, its state, and the delays between attempts to connect.

import { unlessAborted } from '../../async/abort.js';
import { settlesWithin } from '../../async/deadline.js';
import { Activity } from '../../client/connection/activity.js';
import type { Client, ServerFacts } from '../../client/model/client.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { copyError, McpError, toMcpError } from '../../protocol/errors.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import { listedKeys, lists, listsFor, offerOf } from '../routing/lists.js';
import type {
  ListedKeys,
  ListName,
  Offer,
  Routed,
  RoutedSubscription,
  WantedItem,
} from '../routing/router.js';
import { fetchList, forward, subscribe } from './member-calls.js';

/** The state of one server of a group. */
export interface ServerState {
  /** `idle`: not needed yet. `failed`: connected again when it is next needed, after a delay of up to 60 s. */
  readonly status: 'idle' | 'connecting' | 'ready' | 'failed' | 'reconnecting' | 'closed';
  /** The reason why the server failed; absent while it is connected. */
  readonly error?: McpError;
  /** The server's description of itself when it was last connected. */
  readonly server?: ServerFacts;
}

export interface MemberParts {
  readonly open: (signal: AbortSignal) => Promise<Client>;
  /** Called with each new client: the first, or one after a lost connection. */
  readonly onReady: (member: Member, client: Client) => void;
  /** The names of the servers that outcomes and errors come from. */
  readonly origins: WeakMap<object, string>;
  /** Called when a client cannot be used any more. */
  readonly onGone: (client: Client) => void;
  readonly problem: (message: string, cause?: unknown) => void;
  /** Runs `work` with the client. Undefined if that fails or takes too long; then `unavailable` is reported. */
  readonly attempt: <T>(
    member: Member,
    options: AttemptOptions,
    work: (client: Client, signal: AbortSignal) => Promise<T>,
  ) => Promise<T | undefined>;
}

export interface AttemptOptions {
  readonly signal: AbortSignal;
  /** The consequence of a failure, for the report: `its tools are left out`. */
  readonly unavailable: string;
}

const MIN_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
/** The longest time that closing waits for an attempt that ignores its signal. */
const CLOSE_TIMEOUT_MS = 5000;

/** One server of a group: connected when it is first needed, and again, after a delay, if it failed. */
export class Member implements Routed {
  readonly name: string;
  #listedKeys: ListedKeys = {};
  /** Whether a list was made without this server: then connecting the server changes the list. */
  wasMissed = false;
  /** Whether a list has stopped waiting for the current attempt to connect. */
  isLate = false;
  #client: Client | undefined;
  #facts: ServerFacts | undefined;
  #opening: Promise<Client> | undefined;
  #attempt: Promise<void> | undefined;
  #error: McpError | undefined;
  #failures = 0;
  #retryAt = 0;
  readonly #ending = new AbortController();
  /** Has the latest failure to connect. */
  readonly activity: Activity = new Activity();
  readonly #parts: MemberParts;

  constructor(name: string, parts: MemberParts) {
    this.name = name;
    this.#parts = parts;
  }

  /** The client, if the server is connected. */
  get client(): Client | undefined {
    return this.#client;
  }

  /** The client is the connection: a lost one is replaced by another. */
  get connection(): Client | undefined {
    return this.#client;
  }

  get facts(): ServerFacts | undefined {
    return this.#client?.server ?? this.#facts;
  }

  get state(): ServerState {
    const { facts } = this;
    return {
      status: this.#status(),
      ...(this.#client === undefined && this.#error !== undefined && { error: this.#error }),
      ...(facts !== undefined && { server: facts }),
    };
  }

  /** Whether lists skip this server: it failed recently, or an earlier list stopped waiting for it. */
  get isBackingOff(): boolean {
    return this.isLate || performance.now() < this.#retryAt;
  }

  /** Connects, unless connected, and returns the client. */
  async connect(): Promise<Client> {
    if (this.#ending.signal.aborted) throw this.#ending.signal.reason;
    if (this.#client !== undefined) return this.#client;
    if (this.#opening === undefined && this.#error !== undefined && performance.now() < this.#retryAt)
      throw this.#error;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
      this.isLate = false;
    });
    return this.#opening;
  }

  /** Delays the next attempt after a failure, longer each time. */
  backOff(): void {
    this.#retryAt = performance.now() + Math.min(MIN_DELAY_MS * 2 ** this.#failures, MAX_DELAY_MS);
    this.#failures = Math.min(this.#failures + 1, 10);
  }

  /** Resets the delay after a success. */
  resetBackoff(): void {
    this.#failures = 0;
    this.#retryAt = 0;
  }

  forward(call: Call, changes?: JsonObject): Promise<Outcome> {
    return forward(this, call, changes);
  }

  list(kind: ListName, { signal }: Call): Promise<readonly JsonObject[] | undefined> {
    const unavailable = `its ${lists[kind].field} are left out`;
    return this.#parts.attempt(this, { signal, unavailable }, async (client, own) => {
      const items = await fetchList(client, kind, own);
      this.#listedKeys[kind] = listedKeys(kind, items) as never;
      return items;
    });
  }

  offers(
    wanted: WantedItem,
    call: Call,
    { fetch = false }: { readonly fetch?: boolean } = {},
  ): Offer | Promise<Offer> {
    const offer = offerOf(wanted, this.#listedKeys);
    return fetch && offer === 'unknown' ? this.#fetchOffer(wanted, call) : offer;
  }

  async #fetchOffer(wanted: WantedItem, call: Call): Promise<Offer> {
    for (const kind of listsFor(wanted.kind))
      if (this.#listedKeys[kind] === undefined) await this.list(kind, call);
    return offerOf(wanted, this.#listedKeys);
  }

  forget(kind: ListName): void {
    this.#listedKeys[kind] = undefined;
  }

  async reach({ signal }: Call, unavailable: string): Promise<void> {
    await this.#parts.attempt(this, { signal, unavailable }, async () => {});
  }

  subscribe(
    _call: Call,
    wanted: SubscriptionFilter,
    onChange: (method: string, params: JsonObject) => void,
  ): Promise<RoutedSubscription> {
    return subscribe(this, wanted, onChange);
  }

  await<T>({ signal }: Call, unavailable: string, waiting: Promise<T>): Promise<T | undefined> {
    return this.#parts.attempt(this, { signal, unavailable }, () => waiting);
  }

  /** Reports a problem with the name of the server before it. */
  problem(message: string, cause?: unknown): void {
    this.#parts.problem(`${this.name}: ${message}`, cause);
  }

  /** The error with the name of its server before the message. */
  named(error: unknown): McpError {
    const clear = toMcpError(error);
    return this.mark(copyError(clear, { message: `${this.name}: ${clear.message}`, cause: error }));
  }

  /** Remembers that an outcome or an error comes from this server. */
  mark<T extends object>(settled: T): T {
    this.#parts.origins.set(settled, this.name);
    return settled;
  }

  /** Closes the server; its open calls fail with `connection_closed`. */
  async close(): Promise<void> {
    this.#ending.abort(new McpError('connection_closed', `${this.name}: the server was closed`));
    const client = this.#client;
    this.#forget();
    const attempt = this.#attempt;
    await Promise.all([client?.close(), attempt && settlesWithin(attempt, CLOSE_TIMEOUT_MS)]);
  }

  async #open(): Promise<Client> {
    const { signal } = this.#ending;
    try {
      const opening = this.#parts.open(signal);
      this.#attempt = opening.then(
        (client) => (signal.aborted ? client.close() : undefined),
        () => {},
      );
      const client = await unlessAborted(opening, signal);
      this.#use(client);
      return client;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.#error = this.named(error);
      this.activity.failed(this.#error);
      this.backOff();
      this.#parts.problem(this.#error.message, error);
      throw this.#error;
    }
  }

  #use(client: Client): void {
    const { problem, onReady } = this.#parts;
    this.#client = client;
    this.#error = undefined;
    this.#listedKeys = {};
    this.resetBackoff();
    for (const message of client.info().problems) problem(`${this.name}: ${message}`);
    client.on('problem', ({ message, cause }) => problem(`${this.name}: ${message}`, cause));
    client.on('status', ({ status, reason }) => {
      if (status === 'closed' && this.#client === client) this.#onLost(reason);
    });
    if (client.status === 'closed') this.#onLost(undefined);
    else onReady(this, client);
  }

  // The next use connects the server again.
  #onLost(reason: McpError | undefined): void {
    this.#forget();
    this.wasMissed = true;
    this.#error = this.named(
      reason ?? new McpError('connection_closed', 'the connection was closed; the next call opens it again'),
    );
    this.activity.failed(this.#error);
    this.#parts.problem(this.#error.message, reason);
  }

  #forget(): void {
    this.#facts = this.facts;
    if (this.#client !== undefined) this.#parts.onGone(this.#client);
    this.#client = undefined;
    this.#listedKeys = {};
  }

  #status(): ServerState['status'] {
    if (this.#ending.signal.aborted) return 'closed';
    if (this.#client !== undefined) return this.#client.status;
    if (this.#opening !== undefined) return 'connecting';
    return this.#error === undefined ? 'idle' : 'failed';
  }
}
