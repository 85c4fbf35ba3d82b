// A story while it happens. The page sees copies of it.

import { Buffer } from 'node:buffer';
import type { JsonObject } from '../../jsonrpc/message.js';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import type { Failure } from '../contract/failure.js';
import type { OutputVerdict, Story, StoryKind, StoryRound, TaskView, Tick } from '../contract/story.js';
import { type JournalGrid, journalOfQuestions } from '../journal/journal-grid.js';
import type { HttpExchange, Scope, SeenMessage } from '../wiretap/seen.js';
import type { KeptRun } from './kept-run.js';
import { programMeta, ToldProgram } from './program-calls.js';
import { QuestionRecord } from './question.js';

const MAX_TICKS = 200;
const MAX_ROUNDS = 500;
const MAX_QUESTIONS = 200;
/** Larger outcomes are fetched. */
const MAX_INLINE = 64 * 1024;
const MAX_ARGS = 256 * 1024;
/** Longer titles are cut. */
export const MAX_TITLE = 500;

export interface NewStory {
  readonly id: number;
  readonly run: number;
  readonly connection: string;
  readonly kind: StoryKind;
  readonly title: string;
  readonly method: string;
  readonly args?: JsonObject | undefined;
  readonly repeats?: number | undefined;
  readonly isOpen?: boolean;
  /** The run of an earlier visit that this story shows. */
  readonly earlier?: KeptRun | undefined;
  readonly onChange: () => void;
}

/** A round while it happens. */
export interface OpenRound {
  readonly at: number;
  ms?: number;
  outcome?: NonNullable<StoryRound['outcome']>;
  readonly request?: number;
  response?: number;
  readonly bytesOut?: number;
  bytesIn?: number;
  stateBytes?: number;
  readonly http?: HttpExchange;
  readonly isRetry?: boolean;
}

/** The end of a story. */
export interface StoryEnding {
  readonly state: 'ok' | 'tool-error' | 'error' | 'cancelled';
  /** The outcome as JSON. */
  readonly outcome?: string | undefined;
  readonly error?: Failure | undefined;
  readonly outputCheck?: OutputVerdict | undefined;
}

export class StoryRecord {
  readonly id: number;
  readonly run: number;
  readonly connection: string;
  readonly kind: StoryKind;
  readonly scope: Scope;
  readonly method: string;
  readonly args: JsonObject | undefined;
  readonly clock: AskingClock;
  readonly rounds: OpenRound[] = [];
  readonly questions: QuestionRecord[] = [];
  readonly at: number;
  /** The run of an earlier visit. It does not change any more. */
  readonly earlier: KeptRun | undefined;
  /** The id of its run in the history. */
  keptAs: string | undefined;
  title: string;
  task: TaskView | undefined;
  journal: JournalGrid | undefined;
  /** The calls of the program, if this is a call of `run_code`. */
  readonly program: ToldProgram | undefined;
  progress: Story['progress'];
  isPinned = false;
  /** The answer to a question that is known before; undefined if the page is to ask. */
  answerFor: ((question: QuestionRecord['asked']) => JsonObject | undefined) | undefined;
  /** Ends the work of the story early. */
  stop: ((reason: string) => void | Promise<void>) | undefined;
  readonly #onChange: () => void;
  readonly #argsBytes: number;
  readonly #repeats: number | undefined;
  readonly #ticks: Tick[] = [];
  #droppedTicks = 0;
  #endedAt: number | undefined;
  #state: Story['state'];
  #ending: StoryEnding | undefined;
  #outcome: JsonObject | undefined;
  #outcomeText: string | undefined;
  #outcomeBytes: number | undefined;
  #firstMessage: number | undefined;
  #lastMessage: number | undefined;
  #bytesOut = 0;
  #bytesIn = 0;
  #view: Story | undefined;

  constructor(init: NewStory) {
    this.id = init.id;
    this.run = init.run;
    this.connection = init.connection;
    this.kind = init.kind;
    this.title = init.title.slice(0, MAX_TITLE);
    this.method = init.method.slice(0, 256);
    this.args = init.args;
    this.#argsBytes = init.args === undefined ? 0 : JSON.stringify(init.args).length;
    this.#repeats = init.repeats;
    this.#state = init.isOpen ? 'open' : 'running';
    this.#onChange = init.onChange;
    const { earlier } = init;
    this.earlier = earlier;
    this.keptAs = earlier?.id;
    this.at = earlier?.at ?? Date.now();
    this.clock = new AskingClock(earlier?.youMs);
    if (earlier !== undefined) this.#restore(earlier);
    this.program = programMeta(this.method, this.title) && new ToldProgram();
    this.scope = { story: init.id, isBackground: init.kind === 'connect' || init.kind === 'unsolicited' };
  }

  get isOver(): boolean {
    return this.#endedAt !== undefined;
  }

  get outcomeText(): string | undefined {
    return this.#outcomeText;
  }

  changed(): void {
    this.#view = undefined;
    this.#onChange();
  }

  sawMessage(seq: number, { from, bytes }: Pick<SeenMessage, 'from' | 'bytes'>): void {
    if (from === 'client') this.#bytesOut += bytes;
    else this.#bytesIn += bytes;
    this.#firstMessage ??= seq;
    this.#lastMessage = seq;
    this.changed();
  }

  addRound(round: OpenRound): void {
    if (this.rounds.length >= MAX_ROUNDS) this.rounds.shift();
    this.rounds.push(round);
    this.changed();
  }

  addQuestion(question: QuestionRecord): void {
    if (this.questions.length >= MAX_QUESTIONS) this.questions.shift();
    this.questions.push(question);
    this.changed();
  }

  removeQuestion(question: QuestionRecord): void {
    const at = this.questions.indexOf(question);
    if (at !== -1) this.questions.splice(at, 1);
    this.changed();
  }

  tick(tick: Tick): void {
    this.#ticks.push(tick);
    if (this.#ticks.length > MAX_TICKS) {
      this.#ticks.shift();
      this.#droppedTicks++;
    }
    this.changed();
  }

  /** An open subscription, or the place of messages that belong to no call. */
  open(): void {
    if (!this.isOver) this.#state = 'open';
    this.changed();
  }

  end(ending: StoryEnding): void {
    if (this.isOver) return;
    this.clock.end();
    this.#endedAt = Date.now();
    this.#state = ending.state;
    this.#ending = ending;
    const { outcome } = ending;
    if (outcome !== undefined) {
      this.#outcomeText = outcome;
      this.#outcomeBytes = Buffer.byteLength(outcome);
      if (this.#outcomeBytes <= MAX_INLINE) this.#outcome = tryParseObject(outcome);
    }
    const running = this.rounds.at(-1);
    if (running !== undefined && running.outcome === undefined) {
      running.ms = this.#endedAt - running.at;
      running.outcome = ending.state === 'cancelled' ? 'cancelled' : 'error';
    }
    this.stop = undefined;
    this.changed();
  }

  #restore({ endedAt, state, outcome, outcomeBytes, error, outputCheck, questions }: KeptRun): void {
    this.#endedAt = endedAt;
    this.#state = state;
    this.#ending = { state, error, outputCheck };
    this.#outcome = outcome;
    this.#outcomeText = outcome && JSON.stringify(outcome);
    this.#outcomeBytes = outcomeBytes;
    for (const [at, { key, kind, message, round, ...past }] of questions.entries()) {
      const asked = { id: `e${at + 1}`, kind, message, round, ...(key !== undefined && { key }) };
      this.questions.push(new QuestionRecord(asked, [], past));
    }
  }

  /** Forgets the text of the outcome, which is the largest part. The page may have seen it. */
  dropOutcome(): void {
    this.#outcomeText = undefined;
    this.#outcome = undefined;
    this.#view = undefined;
  }

  get view(): Story {
    this.#view ??= this.#print();
    return this.#view;
  }

  #print(): Story {
    const { endedAt, youMs } = { endedAt: this.#endedAt, youMs: this.clock.closedMs };
    const elapsed = (endedAt ?? Date.now()) - this.at - this.clock.totalMs;
    const { error, outputCheck } = this.#ending ?? {};
    const isAsking = !this.isOver && this.clock.isAsking;
    return {
      id: this.id,
      run: this.run,
      connection: this.connection,
      kind: this.kind,
      title: this.title,
      method: this.method,
      ...(this.args && this.#argsBytes <= MAX_ARGS && { args: this.args }),
      at: this.at,
      ...(endedAt !== undefined && { endedAt }),
      state: isAsking ? 'asks' : this.#state,
      serverMs: Math.max(0, Math.round(elapsed)),
      youMs: Math.round(youMs),
      rounds: this.rounds.map(({ http, ...round }) => ({ ...round, ...(http && { http: { ...http } }) })),
      questions: this.questions.map((question) => question.view),
      ticks: [...this.#ticks],
      droppedTicks: this.#droppedTicks,
      ...(this.progress && { progress: this.progress }),
      ...(this.task && { task: this.task }),
      ...(this.journal
        ? { journal: this.journal.view(this) }
        : this.questions.length > 0 && this.earlier === undefined && { journal: journalOfQuestions(this) }),
      ...(this.program && { program: this.program.view }),
      ...(this.#outcome && { outcome: this.#outcome }),
      ...(this.#outcomeBytes !== undefined && { outcomeBytes: this.#outcomeBytes }),
      ...(error && { error }),
      ...(outputCheck && { outputCheck }),
      ...(this.#repeats !== undefined && { repeats: this.#repeats }),
      isPinned: this.isPinned,
      ...(this.earlier && { earlier: this.earlier.facts }),
      ...(this.#firstMessage !== undefined && { firstMessage: this.#firstMessage }),
      ...(this.#lastMessage !== undefined && { lastMessage: this.#lastMessage }),
      ...(this.#bytesOut > 0 && { bytesOut: this.#bytesOut }),
      ...(this.#bytesIn > 0 && { bytesIn: this.#bytesIn }),
    };
  }
}

/** The time in which at least one question of a story was open: the user's time. */
class AskingClock {
  #open = 0;
  #since = 0;
  #closedMs: number;

  constructor(closedMs = 0) {
    this.#closedMs = closedMs;
  }

  get isAsking(): boolean {
    return this.#open > 0;
  }

  /** The time of questions that are answered. */
  get closedMs(): number {
    return this.#closedMs;
  }

  /** All of it, also that of the question that is open now. */
  get totalMs(): number {
    return this.#closedMs + (this.isAsking ? performance.now() - this.#since : 0);
  }

  begin(): void {
    if (this.#open++ === 0) this.#since = performance.now();
  }

  answered(): void {
    if (this.#open === 0 || --this.#open > 0) return;
    this.#closedMs += performance.now() - this.#since;
  }

  /** The story is over: nothing is asked any more. */
  end(): void {
    if (this.#open === 0) return;
    this.#open = 1;
    this.answered();
  }
}
