// A connection of the inspector: opens it, keeps its state for the page, and opens it again.

import type { Client } from '../../client/model/client.js';
import type { ConnectOptions } from '../../connect/targets/options.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { Root } from '../../protocol/model/input.js';
import type { LogLevel } from '../../protocol/tables/log-level.js';
import { type Revision, revisions } from '../../protocol/tables/revisions.js';
import type { CatalogView, ConnectionView, TargetSpec } from '../contract/connection.js';
import type { Failure } from '../contract/failure.js';
import type { OpenedTarget } from '../contract/options.js';
import { follow } from '../stories/follow-messages.js';
import type { StoryRecord } from '../stories/story-record.js';
import { maskTexts } from '../wiretap/mask.js';
import type { Scope, WireListener } from '../wiretap/seen.js';
import { Wiretap } from '../wiretap/wiretap.js';
import { emptyCatalog, fetchCatalog } from './catalog.js';
import { ConnectLog } from './connect-log.js';
import { toFailure } from './failure.js';
import { handlersOf } from './handlers.js';
import type { KnownTasks } from './known-tasks.js';
import { secretsOf } from './secrets.js';
import type { Shared } from './shared.js';
import { Subscriptions } from './subscriptions.js';
import { TapeRecorder } from './tape-recorder.js';

const MAX_MESSAGE = 64 * 1024 * 1024;
const TIMEOUT_MS = 600_000;
const REFRESH_MS = 100;

export interface ConnectionInit {
  readonly id: string;
  readonly opened: OpenedTarget;
  readonly spec: TargetSpec;
  readonly isFixed: boolean;
  readonly seesJournal: boolean;
  readonly tasks: KnownTasks;
  readonly shared: Shared;
}

export class Connection {
  readonly id: string;
  readonly init: ConnectionInit;
  readonly subscriptions: Subscriptions;
  catalog: CatalogView = emptyCatalog;
  logLevel: LogLevel | undefined;
  roots: readonly Root[] = [];
  requestedRevision: Revision | undefined;
  roundTripMs: number | undefined;
  #status: ConnectionView['status'] = 'connecting';
  #client: Client | undefined;
  #tap: Wiretap | undefined;
  #tape: TapeRecorder;
  #log = new ConnectLog();
  #failure: Failure | undefined;
  #suggestion: string | undefined;
  #exit: string | undefined;
  #opening: AbortController | undefined;
  #connectStory: StoryRecord | undefined;
  #refreshing: NodeJS.Timeout | undefined;
  #isListing = false;
  /** Grows with each attempt: what an earlier one reports later is ignored. */
  #attempt = 0;

  constructor(init: ConnectionInit) {
    this.id = init.id;
    this.init = init;
    this.requestedRevision = revisionOf(init.spec.revision) ?? init.opened.options.revision;
    this.#tape = new TapeRecorder(secretsOf(init.opened, init.spec));
    this.subscriptions = new Subscriptions(this, init.shared);
  }

  get status(): ConnectionView['status'] {
    return this.#status;
  }

  get tasks(): KnownTasks {
    return this.init.tasks;
  }

  get tape(): string {
    return this.#tape.text;
  }

  /** The client, and the tap that its calls go through. Throws if there is none that can be used. */
  get open(): { readonly client: Client; readonly tap: Wiretap } {
    if (
      this.#client !== undefined &&
      this.#tap !== undefined &&
      this.#status !== 'closed' &&
      this.#status !== 'failed'
    )
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
    await this.#leave('The connection is opened again.');
    const attempt = ++this.#attempt;
    const { shared, opened } = this.init;
    const story = this.#beginStory();
    const background: Scope = { story: story.id, isBackground: true };
    const opening = new AbortController();
    this.#opening = opening;
    this.#log = new ConnectLog();
    this.#failure = undefined;
    this.#suggestion = undefined;
    this.#exit = undefined;
    this.#setStatus('connecting');
    const tap = new Wiretap({ listener: this.#listener(), background, fetch: opened.options.fetch });
    this.#tap = tap;
    try {
      const options = this.#options(tap, opening.signal);
      const client = await tap.run(background, () => tap.connect(tap.target(opened.target), options));
      if (attempt !== this.#attempt) return void client.close();
      this.#client = client;
      this.#watch(client, background);
      this.#log.isOpen = false;
      story.end({ state: 'ok' });
      this.#setStatus('ready');
      shared.connected(this.init.spec, opened, undefined);
      void this.refresh().then(() => this.subscriptions.listenToLists());
    } catch (error) {
      if (attempt !== this.#attempt) return;
      this.#log.isOpen = false;
      const failure = this.#fail(error);
      story.end({ state: opening.signal.aborted ? 'cancelled' : 'error', error: failure });
      shared.connected(this.init.spec, opened, failure.message);
    }
  }

  /** Lists everything again. */
  async refresh(): Promise<void> {
    const { client, tap } = this.open;
    if (this.#isListing) return this.#refreshSoon();
    this.#isListing = true;
    const { book } = this.init.shared;
    const story = book.begin({ connection: this.id, kind: 'list', title: 'lists', method: 'tools/list' });
    try {
      await tap.run(story.scope, async () => {
        this.catalog = await fetchCatalog(client, this.catalog.version + 1);
        this.roundTripMs = await client.ping({ timeoutMs: 30_000 }).catch(() => undefined);
      });
      const [failed] = this.catalog.failures;
      story.end(
        failed === undefined
          ? { state: 'ok' }
          : { state: 'error', error: { code: 'list_failed', message: `${failed.list}: ${failed.message}` } },
      );
    } catch (error) {
      story.end({ state: 'error', error: toFailure(error) });
    } finally {
      this.#isListing = false;
      this.changed();
    }
  }

  /** Closes it. It can be opened again. */
  async close(): Promise<void> {
    await this.#leave('The connection was closed.');
    this.#attempt++;
    this.#setStatus('closed');
  }

  changed(): void {
    this.init.shared.feed.connectionChanged(this.id);
  }

  get view(): ConnectionView {
    const { opened, isFixed, seesJournal } = this.init;
    const client = this.#client;
    const facts = client === undefined ? undefined : client.server;
    return {
      id: this.id,
      address: opened.address,
      typed: opened.typed,
      name: facts?.info?.title ?? facts?.info?.name ?? opened.address,
      status: this.#status,
      steps: this.#log.steps,
      ...(this.#failure && { failure: this.#failure }),
      ...(this.#suggestion !== undefined && { suggestion: this.#suggestion }),
      ...(client && { transport: client.info().transport }),
      ...(facts && { revision: facts.revision }),
      revisions,
      ...(this.requestedRevision && { requestedRevision: this.requestedRevision }),
      ...(this.roundTripMs !== undefined && { roundTripMs: this.roundTripMs }),
      ...(client && { connectedAt: Date.parse(client.info().connectedAt) }),
      reconnects: client?.info().reconnects ?? 0,
      ...(facts && {
        server: {
          ...(facts.info?.name !== undefined && { name: facts.info.name }),
          ...(facts.info?.title !== undefined && { title: facts.info.title }),
          ...(facts.info?.version !== undefined && { version: facts.info.version }),
          capabilities: facts.capabilities as JsonObject,
          ...(facts.instructions !== undefined && { instructions: facts.instructions }),
        },
      }),
      clientCapabilities: CLIENT_CAPABILITIES,
      catalogVersion: this.catalog.version,
      seesJournal,
      roots: this.roots,
      subscriptions: this.subscriptions.views,
      auth: { state: 'none', hops: [] },
      ...(this.logLevel && { logLevel: this.logLevel }),
      ...(this.#exit !== undefined && { process: { exit: this.#exit } }),
      isFixed,
    };
  }

  #options(tap: Wiretap, signal: AbortSignal): ConnectOptions {
    const { opened, shared } = this.init;
    const { fetch: _, ...options } = opened.options;
    const story = (): StoryRecord => {
      const { book } = shared;
      const scope = tap.scope.isBackground ? book.ownerOf(this.id, { kind: 'request' }) : tap.scope;
      return book.get(scope.story) ?? book.unsolicited(this.id);
    };
    return {
      timeoutMs: TIMEOUT_MS,
      maxTimeoutMs: Number.POSITIVE_INFINITY,
      maxMessageBytes: MAX_MESSAGE,
      ...options,
      ...handlersOf({ asking: shared.asking, story, roots: () => this.roots }),
      client: { name: 'fullmcp-inspector', title: 'The inspector of fullmcp', version: shared.version },
      use: [
        this.#tape.middleware(() => this.#lastResponseBytes(tap)),
        shared.taskResults.middleware(() => tap.scope),
        ...(options.use ?? []),
      ],
      cache: false,
      reconnect: true,
      signal: options.signal === undefined ? signal : AbortSignal.any([options.signal, signal]),
      stderr: (line) => this.#stderr(line),
      ...(this.logLevel && { logLevel: this.logLevel }),
      ...(this.requestedRevision && { revision: this.requestedRevision }),
    };
  }

  #lastResponseBytes(tap: Wiretap): number {
    return this.init.shared.book.get(tap.scope.story)?.rounds.at(-1)?.bytesIn ?? 0;
  }

  #listener(): WireListener {
    const { book, feed, messages } = this.init.shared;
    const attempt = this.#attempt;
    return {
      message: (seen) => {
        const head = messages.add(this.id, seen);
        feed.message(head);
        const story = book.get(seen.scope.story);
        if (story !== undefined) follow(story, seen, head.seq);
        return head.seq;
      },
      ownerOf: (message) => book.ownerOf(this.id, message),
      replied: ({ story }) => book.get(story)?.changed(),
      step: (step) => {
        if (attempt === this.#attempt && this.#log.take(step)) this.changed();
      },
      mask: maskTexts(secretsOf(this.init.opened, this.init.spec)),
    };
  }

  #watch(client: Client, background: Scope): void {
    const { shared } = this.init;
    client.on('status', ({ status, reason }) => {
      if (client !== this.#client) return;
      if (status === 'reconnecting') {
        const story = this.#beginStory();
        background.story = story.id;
        this.#log = new ConnectLog();
        this.#exit = exitOf(reason);
        if (reason !== undefined) this.#failure = toFailure(reason);
        this.#setStatus('reconnecting');
      } else if (status === 'ready') {
        this.#log.isOpen = false;
        this.#failure = undefined;
        this.#connectStory?.end({ state: 'ok' });
        this.#setStatus('ready');
        this.#refreshSoon();
      } else if (reason !== undefined) {
        this.#connectStory?.end({ state: 'error', error: toFailure(reason) });
        this.#fail(reason);
      }
    });
    client.on('log', ({ level, logger, data }) =>
      shared.log(this.id, {
        source: 'log',
        level,
        text: typeof data === 'string' ? data : (JSON.stringify(data) ?? ''),
        ...(logger !== undefined && { logger }),
      }),
    );
    client.on('problem', ({ message }) => shared.log(this.id, { source: 'problem', text: message }));
    client.on('notification', ({ method }) => {
      if (method.endsWith('/list_changed')) this.#refreshSoon();
    });
  }

  #stderr(line: string): void {
    const { shared, opened } = this.init;
    const { journalMark } = opened;
    if (journalMark !== undefined && line.startsWith(`${journalMark} `))
      return shared.journalLine(line.slice(journalMark.length + 1));
    shared.log(this.id, { source: 'stderr', text: line });
    const running = shared.book
      .open(this.id)
      .filter(({ scope, kind }) => !scope.isBackground && kind !== 'subscription');
    if (running.length === 1) running[0]?.tick({ at: Date.now(), kind: 'stderr', text: line.slice(0, 300) });
  }

  #beginStory(): StoryRecord {
    const { book } = this.init.shared;
    this.#connectStory?.end({ state: 'cancelled' });
    this.#connectStory = book.begin({
      connection: this.id,
      kind: 'connect',
      title: this.init.opened.address,
      method: 'connect',
    });
    return this.#connectStory;
  }

  #fail(error: unknown): Failure {
    const failure = toFailure(error);
    this.#failure = failure;
    this.#exit = exitOf(error);
    const data = McpError.is(error) && isObject(error.data) ? error.data : {};
    if (typeof data['suggestion'] === 'string') this.#suggestion = data['suggestion'];
    this.#setStatus('failed');
    return failure;
  }

  #setStatus(status: ConnectionView['status']): void {
    this.#status = status;
    this.changed();
  }

  #refreshSoon(): void {
    this.#refreshing ??= setTimeout(() => {
      this.#refreshing = undefined;
      if (this.#status === 'ready') void this.refresh().catch(() => {});
    }, REFRESH_MS);
    this.#refreshing.unref();
  }

  /** Leaves the connection that is open or being opened. */
  async #leave(why: string): Promise<void> {
    clearTimeout(this.#refreshing);
    this.#refreshing = undefined;
    this.#opening?.abort(new McpError('cancelled', why));
    this.#connectStory?.end({ state: 'cancelled' });
    this.subscriptions.end(why);
    const client = this.#client;
    this.#client = undefined;
    await client?.close();
  }
}

/** The capabilities that the inspector declares, for the page. */
const CLIENT_CAPABILITIES: JsonObject = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
  extensions: { 'io.modelcontextprotocol/tasks': {} },
};

export function revisionOf(text: string | undefined): Revision | undefined {
  return revisions.find((revision) => revision === text);
}

/** How the process of a server ended, as in `code 1`. */
function exitOf(error: unknown): string | undefined {
  const data = McpError.is(error) && isObject(error.data) ? error.data : {};
  if (typeof data['signal'] === 'string') return data['signal'].slice(0, 20);
  return typeof data['exitCode'] === 'number' ? `code ${data['exitCode']}` : undefined;
}
