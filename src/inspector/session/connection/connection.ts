// A connection of the inspector: opens it, keeps its state for the page, and opens it again.

import type { Client } from '../../../client/model/client.js';
import { isObject } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import type { Root } from '../../../protocol/model/input.js';
import type { KnownValues } from '../../../protocol/secrets/known-values.js';
import { has } from '../../../protocol/tables/features.js';
import type { LogLevel } from '../../../protocol/tables/log-level.js';
import { type Revision, revisions } from '../../../protocol/tables/revisions.js';
import type { CatalogView, ConnectionView } from '../../contract/connection.js';
import type { Failure } from '../../contract/failure.js';
import type { OpenedTarget } from '../../contract/options.js';
import { follow, wordsOf } from '../../stories/follow-messages.js';
import { RunWriter } from '../../stories/kept-run.js';
import type { StoryEnding, StoryRecord } from '../../stories/story-record.js';
import { maskedValues } from '../../wiretap/mask.js';
import type { Scope, WireListener } from '../../wiretap/seen.js';
import { Wiretap } from '../../wiretap/wiretap.js';
import { authorizationOf, type ConnectionAuth } from './authorization.js';
import { clientOptions } from './client-options.js';
import { ConnectLog } from './connect-log.js';
import type { ConnectionChat, ConnectionInit, ConnectionState } from './connection-state.js';
import { printConnection } from './connection-view.js';
import { exitOf, failureOf } from './failure.js';
import { EventFollower } from './followed-events.js';
import type { KnownTasks } from './known-tasks.js';
import { Lists } from './lists.js';
import { ReceivedWebhooks } from './received-webhooks.js';
import { OpenSubscriptions } from './subscriptions.js';
import { ConnectionTape } from './tape-recorder.js';
import { secretsOf } from './target-headers.js';

/** Stories that last as long as the connection: they did not end the process. */
const LASTING: ReadonlySet<string> = new Set(['subscription', 'unsolicited']);
/** A process that ends by itself has said why within this time. */
const RECENT_MS = 2000;

export class InspectedConnection implements ConnectionState {
  readonly id: string;
  readonly init: ConnectionInit;
  readonly subscriptions: OpenSubscriptions;
  readonly events: EventFollower;
  readonly webhooks: ReceivedWebhooks;
  readonly authorization: ConnectionAuth;
  readonly tape: ConnectionTape;
  /** The values that are masked in everything that the page sees. */
  readonly secrets: KnownValues;
  readonly mask: (text: string) => string;
  readonly #runs: RunWriter;
  readonly lists: Lists;
  logLevel: LogLevel | undefined;
  /** False once the user has said which messages the server is asked for. */
  mayAskForLogs = true;
  chat: ConnectionChat | undefined;
  roots: readonly Root[] = [];
  requestedRevision: Revision | undefined;
  roundTripMs: number | undefined;
  log: ConnectLog = new ConnectLog();
  failure: Failure | undefined;
  suggestion: string | undefined;
  exit: string | undefined;
  #status: ConnectionView['status'] = 'connecting';
  #client: Client | undefined;
  #tap: Wiretap | undefined;
  #opening: AbortController | undefined;
  #connectStory: StoryRecord | undefined;
  /** Grows with each attempt: what an earlier one reports later is ignored. */
  #attempt = 0;

  constructor(init: ConnectionInit) {
    const { opened, spec, shared } = init;
    const secrets = secretsOf(opened, spec);
    this.id = init.id;
    this.init = init;
    this.requestedRevision = revisionOf(spec.revision) ?? opened.options.revision;
    this.secrets = maskedValues(secrets);
    this.mask = (text) => this.secrets.hide(text);
    this.#runs = new RunWriter(secrets);
    this.tape = new ConnectionTape(secrets);
    this.lists = new Lists(this, shared);
    this.subscriptions = new OpenSubscriptions(this, shared);
    this.events = new EventFollower(this, shared);
    this.webhooks = new ReceivedWebhooks(this, shared);
    this.authorization = authorizationOf(opened, spec, {
      store: shared.loginStore,
      onSecret: (secret) => this.learn(secret),
      onChange: () => {
        this.#countLogin();
        this.changed();
      },
    });
  }

  get status(): ConnectionView['status'] {
    return this.#status;
  }

  get tasks(): KnownTasks {
    return this.init.tasks;
  }

  get catalog(): CatalogView {
    return this.lists.catalog;
  }

  get client(): Client | undefined {
    return this.#client;
  }

  get view(): ConnectionView {
    return printConnection(this);
  }

  /** The client, and the tap that its calls go through. Throws if there is none that can be used. */
  get open(): { readonly client: Client; readonly tap: Wiretap } {
    const isUsable = this.#status === 'ready' || this.#status === 'reconnecting';
    if (this.#client !== undefined && this.#tap !== undefined && isUsable)
      return { client: this.#client, tap: this.#tap };
    throw new McpError(
      'connection_closed',
      this.#status === 'connecting'
        ? 'This connection is not open yet.'
        : 'This connection is closed. Open it again.',
    );
  }

  /** Connects, or connects again. Resolves when that has succeeded or failed; the view says which. */
  async connect(): Promise<void> {
    const attempt = ++this.#attempt;
    this.#reset();
    await this.#leave('The connection is opened again.');
    if (attempt !== this.#attempt) return;
    const { shared, opened, spec } = this.init;
    const { login } = this.authorization;
    const story = this.#beginStory();
    const background: Scope = { story: story.id, isBackground: true };
    const opening = new AbortController();
    this.#opening = opening;
    const isCurrent = (): boolean => attempt === this.#attempt;
    const tap = new Wiretap({
      listener: hear(this, isCurrent),
      background,
      fetch: opened.options.fetch,
    });
    this.#tap = tap;
    login?.begin();
    try {
      const options = clientOptions(this, tap, opening.signal);
      const client = await tap.run(background, () => tap.connect(tap.target(opened.target), options));
      if (!isCurrent()) return void client.close();
      this.#client = client;
      this.#askForLogs(client);
      this.#watch(client, background);
      this.#settle(story);
      shared.connected(spec, opened, undefined);
      await login?.look().catch(() => {});
      await this.lists.refresh();
      await this.subscriptions.listenToLists();
    } catch (error) {
      if (!isCurrent() || this.#client !== undefined) return;
      const failure = this.#fail(error);
      login?.failed(failure.code === 'unauthorized' || failure.code === 'forbidden');
      story.end({ state: opening.signal.aborted ? 'cancelled' : 'error', error: failure });
      shared.connected(spec, opened, failure.message);
    }
  }

  /** Closes it. It can be opened again. */
  async close(): Promise<void> {
    this.#attempt++;
    this.chat?.stop();
    this.#setStatus('closed');
    await this.#leave('The connection was closed.');
  }

  /** Masks a value from now on, wherever it appears. */
  learn(secret: string): void {
    this.secrets.learn(secret);
    this.#runs.learn(secret);
  }

  /** Keeps a call that is over for later visits. `outcome` is the whole one, before anything was masked in it. */
  keep(story: StoryRecord, { outcome }: Pick<StoryEnding, 'outcome'>): void {
    const { shared, opened } = this.init;
    if (!shared.history.isKept) return;
    const run = this.#runs.run(story.view, {
      server: historyNameOf(opened),
      revision: this.#client?.server.revision,
      outcome,
      definition: this.definitionOf(story),
    });
    if (run === undefined) return;
    story.keptAs = run.id;
    shared.history.keep(run);
  }

  /** The definition of the tool that a story calls, whose schemas mark secrets; undefined if it is not listed. */
  definitionOf({ title }: Pick<StoryRecord, 'title'>): unknown {
    return this.catalog.tools.find(({ tool }) => tool.name === title)?.tool;
  }

  changed(): void {
    this.init.shared.feed.connectionChanged(this.id);
  }

  /** A server of the newest revision logs nothing that a call does not ask for. In a session, the server decides by itself. */
  #askForLogs(client: Client): void {
    const { capabilities, revision } = client.server;
    if (!this.mayAskForLogs || capabilities.logging === undefined || !has(revision, 'requestMetadata'))
      return;
    this.logLevel ??= 'info';
    client.setLogLevel(this.logLevel);
  }

  #watch(client: Client, background: Scope): void {
    const { shared } = this.init;
    const isOwn = (): boolean => client === this.#client;
    client.on('status', ({ status, reason }) => {
      if (!isOwn()) return;
      if (status === 'reconnecting') {
        this.failure = reason && this.#failureOf(reason);
        background.story = this.#beginStory().id;
        this.log = new ConnectLog();
        this.exit = exitOf(reason);
        this.#setStatus('reconnecting');
      } else if (status === 'ready') {
        this.failure = undefined;
        this.#settle(this.#connectStory);
        this.lists.refreshSoon();
      } else if (reason !== undefined) {
        this.#connectStory?.end({ state: 'error', error: this.#failureOf(reason) });
        const { message } = this.#fail(reason);
        this.subscriptions.end(message);
        this.events.end(message);
      }
    });
    client.on('log', ({ level, logger, data }) =>
      shared.log(this.id, {
        source: 'log',
        level,
        text: this.mask(typeof data === 'string' ? data : (JSON.stringify(data) ?? '')),
        ...(logger !== undefined && { logger }),
      }),
    );
    client.on('problem', ({ message }) =>
      shared.log(this.id, { source: 'problem', text: this.mask(message) }),
    );
    client.on('notification', ({ method }) => {
      if (isOwn() && method.endsWith('/list_changed')) this.lists.refreshSoon();
    });
  }

  #settle(story: StoryRecord | undefined): void {
    this.log.isOpen = false;
    story?.end({ state: 'ok' });
    this.#setStatus('ready');
  }

  #beginStory(): StoryRecord {
    const { shared, opened } = this.init;
    this.#connectStory?.end({ state: 'cancelled' });
    this.#connectStory = shared.book.begin({
      connection: this.id,
      kind: 'connect',
      title: opened.address,
      method: 'connect',
    });
    return this.#connectStory;
  }

  /** While the login page waits for the user, the time is not the server's. */
  #countLogin(): void {
    const story = this.#connectStory;
    const isWaiting = this.authorization.view().loginUrl !== undefined;
    if (story === undefined || story.isOver || story.clock.isAsking === isWaiting) return;
    if (isWaiting) story.clock.begin();
    else story.clock.answered();
    story.changed();
  }

  #fail(error: unknown): Failure {
    const failure = this.#failureOf(error);
    const data = McpError.is(error) && isObject(error.data) ? error.data : {};
    this.log.isOpen = false;
    this.failure = failure;
    this.exit = exitOf(error);
    if (typeof data['suggestion'] === 'string') this.suggestion = data['suggestion'];
    this.#setStatus('failed');
    return failure;
  }

  /** The words of a process that matter are those since the oldest call that it has not answered, or since it was started. */
  #failureOf(error: unknown): Failure {
    const waiting = this.init.shared.book.open(this.id).filter(({ kind }) => !LASTING.has(kind));
    const since = Math.min(Date.now() - RECENT_MS, ...waiting.map(({ at }) => at));
    return failureOf(this, error, since);
  }

  #reset(): void {
    this.log = new ConnectLog();
    this.failure = undefined;
    this.suggestion = undefined;
    this.exit = undefined;
    // The level that was asked for by default is for the revision that was spoken.
    if (this.mayAskForLogs) this.logLevel = undefined;
    this.#setStatus('connecting');
  }

  #setStatus(status: ConnectionView['status']): void {
    this.#status = status;
    this.changed();
  }

  /** Leaves the connection that is open or being opened. */
  async #leave(why: string): Promise<void> {
    this.lists.stop();
    this.#opening?.abort(new McpError('cancelled', why));
    this.#connectStory?.end({ state: 'cancelled' });
    this.subscriptions.end(why);
    this.events.end(why);
    this.webhooks.end();
    const client = this.#client;
    this.#client = undefined;
    await client?.close();
  }
}

/** The name that the calls of a server are kept under. */
export function historyNameOf({ historyName, address }: OpenedTarget): string {
  return historyName ?? address;
}

export function revisionOf(text: string | undefined): Revision | undefined {
  return revisions.find((revision) => revision === text);
}

/** Takes the messages, replies and steps that the wiretap sees of one attempt to connect, and of the connection that it leads to. */
function hear(connection: ConnectionState, isCurrent: () => boolean): WireListener {
  const { id, init, mask, authorization } = connection;
  const { book, feed, messages } = init.shared;
  return {
    mask,
    message(seen) {
      const head = messages.add(id, seen, wordsOf(seen, mask));
      feed.message(head);
      const story = book.get(seen.scope.story);
      if (story !== undefined) follow(story, seen, { seq: head.seq, mask });
      return head.seq;
    },
    ownerOf: (message) => book.ownerOf(id, message),
    replied({ story }, exchange) {
      if (exchange.status === 401 || exchange.status === 403) authorization.login?.refused(exchange);
      book.get(story)?.changed();
    },
    step(step) {
      if (isCurrent() && connection.log.take(step)) connection.changed();
    },
  };
}
