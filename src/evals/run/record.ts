// Asks one model about cases, and records the conversations.

import type { ReadCase } from '../cases/case.js';
import type { EvalTranscript } from '../cases/transcript.js';
import type { AskModel } from '../model/model.js';
import { modelOverHttp } from '../model/over-http.js';
import { retryingModel } from '../model/retrying.js';
import { keyOf, type ModelTarget, modelTarget } from '../model/target.js';
import type { CaseOutcome, ModelOutcome, ModelPlan } from '../report/report.js';
import { type TapedRun, withoutSecrets } from '../tape/tape.js';
import { toolScores } from '../tape/tool-scores.js';
import { askedParts, systemOf } from './asked-parts.js';
import { type Budget, BudgetError } from './budget.js';
import { converse } from './converse.js';
import { judge } from './judge.js';
import type { EvalProgress } from './options.js';
import { planModel } from './plan.js';
import { type ReplayParts, replayCases } from './replay.js';
import { openServer } from './server.js';

/** The parts that say which cases are to be recorded. */
export interface WantedParts extends ReplayParts {
  readonly again: boolean;
  /** The number of runs that was asked for. */
  readonly runs: number | undefined;
}

export interface RecordParts extends WantedParts {
  readonly key: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly budget: Budget;
  readonly signal: AbortSignal;
  /** The conversations of all models together. */
  readonly total: { done: number; of: number };
  readonly onProgress: ((progress: EvalProgress) => void) | undefined;
}

/** Records the cases that are not fresh. The tape is written after each conversation, so that nothing that was paid for is lost. */
export async function recordModel(target: ModelTarget, parts: RecordParts): Promise<ModelOutcome> {
  const { suite, total } = parts;
  const { tape, before, wanted } = await wantedCases(target, parts);
  const recording = new Recording(target, { parts, tape });
  const jobs = wanted.flatMap(({ case: one }) =>
    Array.from({ length: runsOf(one, parts) }, (_, at) => ({ one, run: at + 1 })),
  );
  total.of += jobs.length;
  const worker = async (): Promise<void> => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await recording.record(job);
  };
  recording.forget(wanted.map((outcome) => outcome.case.name));
  await Promise.all(Array.from({ length: suite.options.concurrency }, worker));
  await recording.saved();
  const outcomes = before.map((outcome) =>
    wanted.includes(outcome) ? recording.outcomeOf(outcome) : outcome,
  );
  return { target, outcomes, notes: recording.notes };
}

/** Plans what `recordModel` would do. */
export async function planRecording(
  target: ModelTarget,
  parts: WantedParts,
): Promise<{ readonly outcome: ModelOutcome; readonly plan: ModelPlan }> {
  const { before, wanted } = await wantedCases(target, parts);
  const planned = wanted.map(({ case: one }) => ({ case: one, runs: runsOf(one, parts) }));
  const plan = await planModel(target, { suite: parts.suite, wanted: planned });
  return { outcome: { target, outcomes: before, notes: [] }, plan };
}

/** The cases as they are on the tape, and those of them that are to be recorded. */
async function wantedCases(target: ModelTarget, parts: WantedParts) {
  const { folder, cases, suite, again } = parts;
  const tape = await folder.read(target);
  const before = await replayCases(cases, { target, suite, tape });
  const wanted = before.filter((outcome) => again || needsRecording(outcome, runsOf(outcome.case, parts)));
  return { tape, before, wanted };
}

function runsOf(one: ReadCase, { runs, suite }: WantedParts): number {
  return runs ?? one.runs ?? suite.options.runs;
}

function needsRecording({ state, runs }: CaseOutcome, wanted: number): boolean {
  return state !== 'fresh' || runs.length < wanted;
}

interface Job {
  readonly one: ReadCase;
  readonly run: number;
}

class Recording {
  readonly notes: string[] = [];
  readonly #target: ModelTarget;
  readonly #parts: RecordParts;
  readonly #ask: AskModel;
  readonly #judgedBy: ModelTarget | undefined;
  readonly #judge: AskModel | undefined;
  readonly #secrets: readonly string[];
  readonly #failures = new Map<
    string,
    { readonly state: 'failed' | 'skipped'; readonly because: string[] }
  >();
  readonly #old: readonly TapedRun[];
  readonly #made: TapedRun[] = [];
  #forgotten: ReadonlySet<string> = new Set();
  #saving: Promise<void> | undefined;
  #isChanged = false;
  /** Why the last runs are not on the tape. */
  #unwritten: Error | undefined;

  constructor(
    target: ModelTarget,
    {
      parts,
      tape,
    }: { readonly parts: RecordParts; readonly tape: { readonly runs: readonly TapedRun[] } | undefined },
  ) {
    const { key, env, budget, suite } = parts;
    const { judge: judging } = suite.options;
    this.#target = target;
    this.#parts = parts;
    this.#old = tape?.runs ?? [];
    this.#ask = askOf(target, key, budget);
    this.#judgedBy = judging === undefined ? undefined : modelTarget(judging);
    const judgeKey = this.#judgedBy && keyOf(this.#judgedBy, env);
    this.#judge = this.#judgedBy && askOf(this.#judgedBy, judgeKey ?? '', budget);
    this.#secrets = [key, judgeKey ?? ''].filter((one) => one !== '');
  }

  /** The cases whose old runs are no longer of use, once there is a new one. */
  forget(names: readonly string[]): void {
    this.#forgotten = new Set(names);
  }

  async record({ one, run }: Job): Promise<void> {
    const { signal, total, onProgress } = this.#parts;
    try {
      signal.throwIfAborted();
      // An answer that cannot be kept is not paid for.
      await this.saved();
      if (this.#unwritten !== undefined) throw this.#unwritten;
      const made = await this.#converse(one, signal);
      this.#made.push(withoutSecrets({ ...made, run, case: one.name, day: today() }, this.#secrets));
      await this.#save();
    } catch (error) {
      this.#fail(one.name, error);
    }
    total.done++;
    onProgress?.({ ...total, case: one.name });
  }

  async #converse(one: ReadCase, signal: AbortSignal): Promise<Omit<TapedRun, 'case' | 'run' | 'day'>> {
    const { source, options } = this.#parts.suite;
    const target = this.#target;
    const { api } = target;
    const server = await openServer(source, {
      api,
      asks: one.asks,
      tools: one.tools,
      caller: options.caller,
    });
    try {
      const system = systemOf(server, options.system);
      const asked = askedParts(one, { server, system, target, judgedBy: this.#judgedBy });
      const { maxRounds } = options;
      const transcript = await converse(one, { ask: this.#ask, server, system, maxRounds, signal });
      return { ...asked, ...(await this.#judged(one, transcript, signal)) };
    } finally {
      await server.close();
    }
  }

  async #judged(
    { ask, judge: criterion }: ReadCase,
    transcript: EvalTranscript,
    signal: AbortSignal,
  ): Promise<EvalTranscript> {
    if (criterion === undefined) return transcript;
    if (this.#judge === undefined)
      throw new TypeError('The case has "judge", and the options of evals name no model that judges.');
    const judged = await judge({ ask, criterion, transcript }, { ask: this.#judge, signal });
    return { ...transcript, judged };
  }

  #fail(name: string, error: unknown): void {
    const isStopped = error instanceof BudgetError || this.#parts.signal.aborted;
    const reason = isStopped && !(error instanceof BudgetError) ? this.#parts.signal.reason : error;
    const says = reason instanceof Error ? reason.message : String(reason);
    const known = this.#failures.get(name) ?? { state: isStopped ? 'skipped' : 'failed', because: [] };
    if (!known.because.includes(says)) known.because.push(says);
    this.#failures.set(name, known);
  }

  /** The outcome of a case that was to be recorded. A case of which some runs failed has those that did not. */
  outcomeOf({ case: one }: CaseOutcome): CaseOutcome {
    const runs = this.#made
      .filter((run) => run.case === one.name)
      .sort((first, next) => first.run - next.run);
    if (runs.length > 0 && this.#unwritten !== undefined) this.#fail(one.name, this.#unwritten);
    const failure = this.#failures.get(one.name);
    return { case: one, runs, state: failure?.state ?? 'recorded', because: failure?.because ?? [] };
  }

  /** Waits until the tape is written. Runs that could not be written are tried once more. */
  async saved(): Promise<void> {
    await this.#saving;
    if (this.#unwritten !== undefined) await this.#save();
  }

  /** Writes the tape. Writes that come while one is running are one more. */
  async #save(): Promise<void> {
    this.#isChanged = true;
    this.#saving ??= this.#write();
    await this.#saving;
  }

  async #write(): Promise<void> {
    try {
      while (this.#isChanged) {
        this.#isChanged = false;
        await this.#writeAll();
      }
      this.#unwritten = undefined;
    } catch (error) {
      this.#unwritten = new Error(`The tape cannot be written: ${(error as Error).message}`, {
        cause: error,
      });
    } finally {
      // In the turn of the last look at what has changed, so that no change falls between two writes.
      this.#saving = undefined;
    }
  }

  async #writeAll(): Promise<void> {
    const renewed = new Set(this.#made.map((run) => run.case));
    const known = new Set(this.#parts.suite.cases.map(({ name }) => name));
    const kept = this.#old.filter(
      (run) => known.has(run.case) && !(this.#forgotten.has(run.case) && renewed.has(run.case)),
    );
    const runs = [...kept, ...this.#made];
    const scores = await toolScores(this.#parts.suite.cases, runs);
    await this.#parts.folder.write(this.#target, { runs, scores }, this.#secrets);
  }
}

function askOf(target: ModelTarget, key: string, budget: Budget): AskModel {
  return retryingModel(budget.around(modelOverHttp(target, key), target));
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
