import { unlessAborted } from '../../async/abort.js';
import { settlesWithin } from '../../async/deadline.js';
import type { Client, ServerFacts } from '../../client/model/client.js';
import { McpError } from '../../protocol/errors.js';
import { withServerName } from './with-server-name.js';

/** The state of one server of a group. */
export interface ServerState {
  /** `idle` has not been needed yet; `failed` is tried again when it is next needed, after a pause of up to 60 s. */
  readonly status: 'idle' | 'connecting' | 'ready' | 'failed' | 'reconnecting' | 'closed';
  /** The reason why the server failed; absent while it is connected. */
  readonly error?: McpError;
  /** The server's account of itself when it was last connected. */
  readonly server?: ServerFacts;
}

/** What its lists told: the names of tools and prompts, the URIs of resources, what templates match, by their text. */
export interface Known {
  tools?: ReadonlySet<string> | undefined;
  prompts?: ReadonlySet<string> | undefined;
  resources?: ReadonlySet<string> | undefined;
  templates?: ReadonlyMap<string, (uri: string) => object | undefined> | undefined;
}

export interface MemberParts {
  readonly open: (signal: AbortSignal) => Promise<Client>;
  /** There is a new client: the first, or one after a loss. */
  readonly ready: (member: Member, client: Client) => void;
  /** The client is of no use any more. */
  readonly gone: (client: Client) => void;
  readonly problem: (message: string, cause?: unknown) => void;
}

const FIRST_REST_MS = 1000;
const LONGEST_REST_MS = 60_000;
/** An attempt that does not look at its signal is not waited for any longer than this. */
const LEAVE_MS = 5000;

/** One server of a group: connected when it is first needed, and again after a failure, but not at once. */
export class Member {
  readonly name: string;
  known: Known = {};
  /** Whether a list had to do without it: then its coming is a change. */
  missed = false;
  /** Whether a list has waited long enough for this attempt to connect. */
  late = false;
  #client: Client | undefined;
  #facts: ServerFacts | undefined;
  #opening: Promise<Client> | undefined;
  #attempt: Promise<void> | undefined;
  #error: McpError | undefined;
  #failures = 0;
  #restsUntil = 0;
  readonly #ending = new AbortController();
  readonly #parts: MemberParts;

  constructor(name: string, parts: MemberParts) {
    this.name = name;
    this.#parts = parts;
  }

  /** The client, where there is one now. */
  get client(): Client | undefined {
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

  /** Whether lists do without it: it failed a short while ago, or an earlier list has waited for it in vain. */
  get isAway(): boolean {
    return this.late || performance.now() < this.#restsUntil;
  }

  /** The client, connected. */
  async connect(): Promise<Client> {
    if (this.#ending.signal.aborted) throw this.#ending.signal.reason;
    if (this.#client !== undefined) return this.#client;
    if (this.#opening === undefined && this.#error !== undefined && performance.now() < this.#restsUntil)
      throw this.#error;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
      this.late = false;
    });
    return this.#opening;
  }

  /** It failed to do its part: the next attempt has to wait, each time longer. */
  rest(): void {
    this.#restsUntil = performance.now() + Math.min(FIRST_REST_MS * 2 ** this.#failures, LONGEST_REST_MS);
    this.#failures = Math.min(this.#failures + 1, 10);
  }

  /** It did its part. */
  rested(): void {
    this.#failures = 0;
    this.#restsUntil = 0;
  }

  /** Ends it: what is open on it fails with `connection_closed`. */
  async close(): Promise<void> {
    this.#ending.abort(new McpError('connection_closed', `${this.name}: the server was closed`));
    const client = this.#client;
    this.#forget();
    const attempt = this.#attempt;
    await Promise.all([client?.close(), attempt && settlesWithin(attempt, LEAVE_MS)]);
  }

  async #open(): Promise<Client> {
    const { signal } = this.#ending;
    try {
      const opening = this.#parts.open(signal);
      this.#attempt = opening.then(
        (late) => (signal.aborted ? late.close() : undefined),
        () => {},
      );
      const client = await unlessAborted(opening, signal);
      this.#settle(client);
      return client;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.#error = withServerName(this.name, error);
      this.rest();
      this.#parts.problem(this.#error.message, error);
      throw this.#error;
    }
  }

  #settle(client: Client): void {
    const { problem, ready } = this.#parts;
    this.#client = client;
    this.#error = undefined;
    this.known = {};
    this.rested();
    for (const message of client.info().problems) problem(`${this.name}: ${message}`);
    client.on('problem', ({ message, cause }) => problem(`${this.name}: ${message}`, cause));
    client.on('status', ({ status, reason }) => {
      if (status === 'closed' && this.#client === client) this.#lost(reason);
    });
    if (client.status === 'closed') this.#lost(undefined);
    else ready(this, client);
  }

  // Whoever uses it next connects it again.
  #lost(reason: McpError | undefined): void {
    this.#forget();
    this.missed = true;
    this.#error = withServerName(
      this.name,
      reason ?? new McpError('connection_closed', 'the connection was closed; the next call opens it again'),
    );
    this.#parts.problem(this.#error.message, reason);
  }

  #forget(): void {
    this.#facts = this.facts;
    if (this.#client !== undefined) this.#parts.gone(this.#client);
    this.#client = undefined;
    this.known = {};
  }

  #status(): ServerState['status'] {
    if (this.#ending.signal.aborted) return 'closed';
    if (this.#client !== undefined) return this.#client.status;
    if (this.#opening !== undefined) return 'connecting';
    return this.#error === undefined ? 'idle' : 'failed';
  }
}
