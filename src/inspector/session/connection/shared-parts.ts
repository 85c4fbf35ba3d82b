// The parts that all connections of an inspector share.

import { BoundedMap } from '../../../async/bounded-map.js';
import type { RecordedScore } from '../../../evals/tape/tool-scores.js';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { memoryTokenStore } from '../../../oauth/client/store/memory-token-store.js';
import type { TokenStore } from '../../../oauth/client/store/token-store.js';
import type { Middleware } from '../../../protocol/call.js';
import { clean } from '../../../tooling/clean.js';
import { causeIn } from '../../../tooling/process-output.js';
import type { TargetSpec } from '../../contract/connection.js';
import type { ToldEvent } from '../../contract/events.js';
import type { ProcessOutput } from '../../contract/failure.js';
import type { LogLine } from '../../contract/message.js';
import type { InspectorOptions, JournalEvent, OpenedTarget } from '../../contract/options.js';
import { JournalGrid } from '../../journal/journal-grid.js';
import { PageQuestions } from '../../stories/asking.js';
import { type CurrentViews, Feed } from '../../stories/feed.js';
import { HistoryFile } from '../../stories/history-file.js';
import { MessageLog } from '../../stories/message-log.js';
import { StoryBook } from '../../stories/story-book.js';
import type { Scope } from '../../wiretap/seen.js';
import { WebhookInbox } from '../webhooks/webhook-inbox.js';

const MAX_LOGS = 5000;
const MAX_TOLD = 500;
/** The last lines of a process that a failure has in it. */
const MAX_WORDS = 20;
const MAX_LINE = 4000;

export class SharedParts {
  readonly version: string;
  readonly feed: Feed;
  readonly book: StoryBook;
  readonly messages: MessageLog = new MessageLog();
  readonly asking: PageQuestions = new PageQuestions();
  readonly loginStore: TokenStore;
  readonly history: HistoryFile;
  readonly inbox: WebhookInbox = new WebhookInbox();
  readonly taskResults: TaskResults = new TaskResults();
  readonly #options: InspectorOptions;
  #logs: LogLine[] = [];
  #told: ToldEvent[] = [];
  #lastLog = 0;
  #lastTold = 0;

  constructor(options: InspectorOptions, views: Pick<CurrentViews, 'connection' | 'chat'>) {
    this.version = options.version;
    this.loginStore = options.loginStore ?? memoryTokenStore();
    this.#options = options;
    this.feed = new Feed({ ...views, story: (id) => this.book.get(id)?.view });
    this.book = new StoryBook(this.feed);
    this.history = new HistoryFile(options.historyFolder, (notice) =>
      this.feed.emit({ type: 'history', history: { notice } }),
    );
  }

  get logs(): readonly LogLine[] {
    return this.#logs.slice(-MAX_LOGS);
  }

  /** The last words of a process. Lines from before `since` are kept apart: they are about something else. */
  lastWords(connection: string, since: number): ProcessOutput {
    const all = this.#logs.filter((line) => line.connection === connection && line.source === 'stderr');
    const own = all.filter(({ at }) => at >= since);
    const texts = (lines: readonly LogLine[]): readonly string[] =>
      lines.slice(-MAX_WORDS).map(({ text }) => text);
    const lines = texts(own);
    const cause = causeIn(lines);
    return {
      ...(cause !== undefined && { cause }),
      lines,
      earlier: texts(all.slice(0, all.length - own.length)),
    };
  }

  log(connection: string, line: Omit<LogLine, 'seq' | 'connection' | 'at'>): void {
    const logged = {
      ...line,
      seq: ++this.#lastLog,
      connection,
      at: Date.now(),
      text: clean(line.text.slice(0, MAX_LINE)),
    };
    this.#logs.push(logged);
    if (this.#logs.length > MAX_LOGS + 500) this.#logs = this.#logs.slice(-MAX_LOGS);
    this.feed.log(logged);
  }

  /** The events that servers have told, the latest ones. */
  get told(): readonly ToldEvent[] {
    return this.#told.slice(-MAX_TOLD);
  }

  tell(event: Omit<ToldEvent, 'seq' | 'at'>): void {
    const told = { ...event, seq: ++this.#lastTold, at: Date.now() };
    this.#told.push(told);
    if (this.#told.length > 2 * MAX_TOLD) this.#told = this.#told.slice(-MAX_TOLD);
    this.feed.told(told);
  }

  /** The last recorded scores of these tools in the evals of the project. */
  async scoresOf(tools: readonly JsonObject[]): Promise<readonly RecordedScore[]> {
    const { tapeFolders = [] } = this.#options;
    if (tapeFolders.length === 0) return [];
    const { recordedScores } = await import('../../../evals/tape/tool-scores.js');
    return recordedScores(tapeFolders, tools);
  }

  /** Removes the lines of a connection, and the events that its server has told. */
  clearLogs(connection: string): void {
    this.#logs = this.#logs.filter((line) => line.connection !== connection);
    this.#told = this.#told.filter((event) => event.connection !== connection);
  }

  connected(spec: TargetSpec, opened: OpenedTarget, failure: string | undefined): void {
    this.#options.onConnected?.(spec, opened, failure);
  }

  journal(event: JournalEvent): void {
    const story = this.book.get(event.story);
    if (story === undefined) return;
    story.journal ??= new JournalGrid();
    story.journal.add(event);
    story.changed();
  }
}

const MAX_KEPT = 200;

/** The results of tasks as the server sent them: the client gives only what it made of them. */
class TaskResults {
  readonly #results = new BoundedMap<number, JsonObject>(MAX_KEPT);

  /** Middleware that looks at what `tasks/get` returns. */
  middleware(scope: () => Scope): Middleware {
    return async (call, next) => {
      const outcome = await next(call);
      const { result } = outcome;
      if (call.method === 'tasks/get' && isObject(result)) this.#results.set(scope().story, result);
      return outcome;
    };
  }

  /** The result of a story's task. It is given once. */
  take(story: number): JsonObject | undefined {
    const result = this.#results.get(story);
    this.#results.delete(story);
    return result;
  }
}
