// The context of one run of a handler, and the values and functions that it is made of.

import { settlesWithin } from '../../async/deadline.js';
import { hasEnded, onEnd, withSignal, withSignalOf } from '../../async/lifetime.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Auth, Call, HttpFacts, Outcome, Peer } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import { copyCall } from '../../protocol/direct.js';
import { cancelledBy, userRejected } from '../../protocol/errors.js';
import { progressToken } from '../../protocol/meta.js';
import type { ResourceContents } from '../../protocol/model/content.js';
import type { InputRequest } from '../../protocol/model/input.js';
import { atLeast } from '../../protocol/tables/log-level.js';
import type { QuestionEvent } from '../../protocol/telemetry/events.js';
import { type HandlerLog, handlerLog, LoggedCall } from '../../protocol/telemetry/handler-log.js';
import { questionEvents } from '../../protocol/telemetry/tracing.js';
import type { Schema } from '../../schema/schema.js';
import {
  APPROVAL,
  type ApprovalResult,
  approvalQuestion,
  checkCapabilities,
  type FormQuestion,
  formQuestion,
  missingCapability,
  type Question,
  requiredCapabilities,
  rootsQuestion,
  type SampleOptions,
  type SampleResult,
  sampleQuestion,
  type UrlQuestion,
  urlQuestion,
} from '../asking/question.js';
import { Replay } from '../asking/replay.js';
import { checkKey, markHandled, NestedRun, type OpenStep, type Run, type Step } from '../asking/run.js';
import { ToolError } from '../results/tool-error.js';
import type { ToolResult } from '../results/tool-result.js';
import { type Changed, type ChangeMessage, changedOver, MAX_TELL_MS } from '../state/changes.js';
import type { ReportDeprecated } from '../state/deprecations.js';
import type { EmitAny } from '../state/emitting.js';
import type { Logger } from '../state/log.js';
import { contextLog, LogCount, toLogData } from './call-log.js';
import type { CallTimeout } from './call-timeout.js';
import type { StoredParts } from './caller-state.js';
import type { ClientFacts, Context, ContextLog, Elicit } from './context.js';
import { storeOf } from './stored.js';

/** The values that a handler's run starts with. */
export interface RunInputs<State, User> {
  readonly state: State;
  readonly user: User;
  /** The questions and steps of an earlier round, or of the outer call. */
  readonly run?: Run | undefined;
  readonly resumed?: Context['resumed'];
  /** The log messages and progress of earlier rounds. */
  readonly sent?: SentSoFar | undefined;
  /** The count of the outer call's log messages, for a nested call. */
  readonly logs?: LogCount | undefined;
}

/** The part of the inputs that a nested call shares with the outer call. */
export type PreparedInputs = Pick<RunInputs<never, never>, 'state' | 'user' | 'logs'>;

/** The number of messages that were logged in all rounds, at any level, and the highest progress. */
export interface SentSoFar {
  readonly logCount: number;
  readonly lastProgress: number | undefined;
}

/** The functions of a server that the contexts of its handlers call. */
export interface ContextParts {
  /** Makes the replay of a call when its handler asks the first question or runs the first step. */
  readonly newReplay: () => Replay;
  /** Announces a change. The promise resolves when other processes are told, or cannot be; undefined if there are none. */
  readonly announce: (change: ChangeMessage) => Promise<unknown> | undefined;
  /** The name and the store of the server. */
  readonly stored: Pick<StoredParts, 'server' | 'store'>;
  /** Writes to the log of the operator. */
  readonly log: Logger;
  /** Reports the use of deprecated parts of the API. */
  readonly deprecated: ReportDeprecated;
  /** Emits an event of the server. */
  readonly emit: EmitAny;
  readonly read: (nested: NestedCall, uri: string) => Promise<readonly ResourceContents[]>;
  /** Answers a call of any method, as if the caller had made it. */
  readonly request: (call: Call) => Promise<Outcome>;
  readonly callTool: (nested: NestedCall, name: string, args: Readonly<JsonObject>) => Promise<ToolResult>;
}

/** A call that a handler makes with `ctx.call` or `ctx.read`. Its questions and steps belong to the outer call. */
export interface NestedCall {
  readonly inputs: PreparedInputs;
  readonly call: Call;
  readonly run: Run;
}

/** The context of one run of a handler. Its members are made when the handler first uses them, so that unused ones cost nothing. */
export class CallContext<State, User> implements Context<State, User> {
  readonly state: State;
  readonly user: User;
  #call: Call;
  readonly #parts: ContextParts;
  readonly #inputs: RunInputs<State, User>;
  #run: Run | undefined;
  #endReason: Error | undefined;
  #isClosed = false;
  #unlisten: (() => void) | undefined;
  #lastProgress: number;
  #logs: LogCount | undefined;
  #nestedCalls = 0;
  #timeout: CallTimeout | undefined;
  #changed: Changed | undefined;
  #told: Promise<unknown> | undefined;
  #background: (() => Promise<void>) | undefined;
  #backgrounding: Promise<void> | undefined;

  constructor(call: Call, parts: ContextParts, inputs: RunInputs<State, User>) {
    this.#call = call;
    this.#parts = parts;
    this.#inputs = inputs;
    if (inputs.run !== undefined) this.#run = this.#bind(inputs.run);
    this.#lastProgress = inputs.sent?.lastProgress ?? Number.NEGATIVE_INFINITY;
    this.state = inputs.state;
    this.user = inputs.user;
  }

  /** The questions and steps of this call; undefined if there are none, or if they belong to an outer call. */
  get replay(): Replay | undefined {
    return this.#run instanceof Replay ? this.#run : undefined;
  }

  get sent(): SentSoFar {
    const logCount = Math.max(this.#logs?.total ?? 0, this.#inputs.sent?.logCount ?? 0);
    return { logCount, lastProgress: Number.isFinite(this.#lastProgress) ? this.#lastProgress : undefined };
  }

  get signal(): AbortSignal {
    return this.#timeout?.signal ?? this.#call.signal;
  }

  /** From now on `signal` is that of the timeout, which aborts with the call or before it. */
  withTimeout(timeout: CallTimeout): this {
    this.#timeout = timeout;
    return this;
  }

  /**
   * Continues the handler as a task: from now on the signal, the progress, the log and the nested calls are those of the task's
   * call, and the run ends with that call. The caller and the HTTP request stay the same.
   */
  continueAs(call: Call): void {
    this.#unlisten?.();
    const { auth, http, isLocal } = this.#call;
    this.#call = withSignalOf(call, { ...call, auth, http, isLocal });
    this.#timeout?.follow(call);
    if (this.#run !== undefined) this.#bind(this.#run);
  }

  get caller(): Caller {
    return this.#call;
  }

  get auth(): Auth | undefined {
    return this.#call.auth;
  }

  get request(): HttpFacts | undefined {
    return this.#call.http;
  }

  get resumed(): Context['resumed'] {
    return this.#inputs.resumed;
  }

  get client(): ClientFacts {
    return clientFacts(this.#call.peer);
  }

  get changed(): Changed {
    this.#changed ??= changedOver((change) => {
      const told = this.#parts.announce(change);
      if (told !== undefined) this.#told = Promise.all([this.#told, told]);
    });
    return this.#changed;
  }

  /** Whether the handler has announced changes of which other processes are being told. */
  get hasAnnounced(): boolean {
    return this.#told !== undefined;
  }

  /**
   * Resolves when other processes are told of the changes that the handler announced: a client that has the response relies on
   * that, even if this process dies then. Waits only for a time.
   */
  async told(): Promise<void> {
    if (this.#told !== undefined) await settlesWithin(this.#told, MAX_TELL_MS, { unref: true });
  }

  /** With a fourth argument, the `_meta` of the notification. */
  get progress(): ReportProgress {
    return (...values) => {
      const params = nextProgress(values, this.#lastProgress, this.#call);
      if (params === undefined) return;
      this.#lastProgress = params.progress;
      this.#call.notify('notifications/progress', params);
    };
  }

  get log(): ContextLog {
    return contextLog((level, data, logger) => {
      // Messages of an earlier round are not sent again. All levels count, because the client may change its level between rounds.
      const isNew = this.#logCount().isNew();
      const { logLevel } = this.#call.peer;
      if (!isNew || logLevel === undefined || !atLeast(level, logLevel)) return;
      const params = { level, ...(logger !== undefined && { logger }), data: toLogData(data) };
      this.#call.notify('notifications/message', params);
    });
  }

  get logger(): HandlerLog {
    const { uri } = this as { readonly uri?: string };
    return handlerLog(this.#parts.log, (data) => new LoggedCall(this.#call, uri, data));
  }

  #logCount(): LogCount {
    this.#logs ??= this.#inputs.logs ?? new LogCount(this.#inputs.sent?.logCount ?? 0);
    return this.#logs;
  }

  get elicit(): Elicit {
    const elicit = (key: string, question: FormQuestion<Schema> | UrlQuestion): Promise<unknown> =>
      question?.url === undefined
        ? this.#ask(key, () => formQuestion(question as FormQuestion<Schema>))
        : this.#ask(key, () => urlQuestion(question as UrlQuestion));
    return elicit as Elicit;
  }

  get ask(): Context['ask'] {
    return (key, question) => {
      const values = this.#ask(key, () => formQuestion(question)).then((answer) => {
        if (answer.action === 'accept') return answer.content;
        throw new ToolError(`The user ${answer.action === 'decline' ? 'declined' : 'cancelled'}: ${key}`);
      });
      return markHandled(values);
    };
  }

  /**
   * Asks a person to approve the call. An answer counts only for this question, asked about this subject: a client cannot answer before
   * it was asked, and its answer is used once.
   */
  askForApproval(message: string, subject: string, level?: string): Promise<ApprovalResult> {
    // The server that a tool is mounted in may ask, too.
    const key = level === undefined ? APPROVAL : `${APPROVAL}:${level}`;
    return this.#ask(key, () => approvalQuestion(message, subject));
  }

  /** Asks the client a question of another call. Resolves with the answer as it came; only the answer to this question counts. */
  relay(key: string, request: InputRequest): Promise<unknown> {
    return this.#ask(key, () => ({ request, subject: key, read: (value) => ({ ok: true, value }) }));
  }

  /** The result of a step that an earlier run has kept; undefined if there is none. */
  known(key: string): { readonly value: unknown } | undefined {
    return this.#run?.known(key);
  }

  /** Lets the journal of the run grow to this size. */
  allowJournal(maxBytes: number): void {
    const run = this.#ensureRun();
    if (run instanceof Replay) run.allow(maxBytes);
  }

  get sample(): Context['sample'] {
    return (key, options) => markHandled(this.#sample(key, options));
  }

  async #sample(key: string, options: SampleOptions): Promise<SampleResult> {
    const result = await this.#ask(key, () => sampleQuestion(options, this.#parts.deprecated));
    if (result === undefined) throw userRejected();
    return result;
  }

  get roots(): Context['roots'] {
    return (key) => this.#ask(key, () => rootsQuestion(this.#parts.deprecated));
  }

  get step(): Context['step'] {
    return (key, work) => {
      const emitting = (step: OpenStep): ReturnType<typeof work> =>
        work(new EmittingStep(step, this.#parts.emit));
      // A step without a function is a mistake, which the run explains.
      return this.#ensureRun().step(key, typeof work === 'function' ? emitting : work);
    };
  }

  #ask<T>(key: string, make: () => Question<T>): Promise<T> {
    try {
      checkKey(key);
      const question = make();
      checkCapabilities(requiredCapabilities(question.request), this.#call.peer.capabilities);
      const run = this.#ensureRun();
      if (!questionEvents?.hasSubscribers) return run.ask(key, question);
      const event: QuestionEvent = { side: 'server', key, request: question.request };
      return markHandled(questionEvents.tracePromise(() => run.ask(key, question), event));
    } catch (error) {
      return markHandled(Promise.reject(error));
    }
  }

  #ensureRun(): Run {
    this.#run ??= this.#bind(this.#parts.newReplay());
    return this.#run;
  }

  // The run of a call ends with the call. The run of a nested call ends with the outer run, so it does not listen.
  #bind(run: Run): Run {
    if (this.#endReason !== undefined) run.end(this.#endReason);
    else if (this.#isClosed) run.close();
    else if (run instanceof Replay) {
      const call = this.#call;
      run.reportFor(call);
      const end = (): void => run.end(cancelledBy(call.signal.reason));
      if (hasEnded(call)) end();
      else this.#unlisten = onEnd(call, end);
    }
    return run;
  }

  /** The reason why the run of this handler is over; undefined while it is running. */
  get endReason(): Error | undefined {
    return this.#endReason ?? this.#run?.reason;
  }

  /** Ends the run before the handler ends: from now on every question and step of the handler throws `reason`. */
  end(reason: Error): void {
    this.#endReason ??= reason;
    this.#run?.end(reason);
  }

  /** Called when the handler has returned or thrown. */
  close(): void {
    this.#isClosed = true;
    this.#unlisten?.();
    this.#run?.close();
  }

  // A second call of `background` waits for the first.
  get background(): () => Promise<void> {
    return async () => {
      this.#backgrounding ??= this.#background?.();
      await this.#backgrounding;
    };
  }

  /** Sets the function that `background` calls. By default `background` does nothing. */
  onBackground(moveToTask: (replay: Replay) => Promise<void>): void {
    this.#background = async () => {
      const replay = this.#ensureRun() as Replay;
      // The client of a cancelled call would not learn of the task.
      if (replay.reason !== undefined) throw replay.reason;
      await moveToTask(replay);
    };
  }

  get store(): Context['store'] {
    return storeOf({ ...this.#parts.stored, caller: this.#call });
  }

  get read(): Context['read'] {
    return (uri) => markHandled(this.#parts.read(this.#nested(uri), uri));
  }

  get call(): Context['call'] {
    return (name, args = {}) => markHandled(this.#parts.callTool(this.#nested(name), name, args));
  }

  /** Calls a method of the server on behalf of the caller, for tools that act on its definitions. */
  callMethod(method: string, params: JsonObject): Promise<Outcome> {
    return this.#parts.request(copyCall(this.#nested(method).call, { method, params, isNested: true }));
  }

  #nested(name: string): NestedCall {
    const outer = { find: () => this.#run, make: () => this.#ensureRun() };
    const call = this.#timeout === undefined ? this.#call : withSignal(copyCall(this.#call), this.#timeout);
    const inputs = { ...this.#inputs, logs: this.#logCount() } as RunInputs<never, never>;
    return { inputs, call, run: new NestedRun(outer, `${name}#${++this.#nestedCalls}/`) };
  }

  get emit(): Context['emit'] {
    return (name, data, options) => markHandled(this.#parts.emit(name, data, options));
  }

  get release(): () => void {
    return () => this.#call.release?.();
  }
}

/** A step that can emit events. */
class EmittingStep implements Step {
  readonly #step: OpenStep;
  readonly #emit: EmitAny;
  #emitted = 0;

  constructor(step: OpenStep, emit: EmitAny) {
    this.#step = step;
    this.#emit = emit;
  }

  get idempotencyKey(): string {
    return this.#step.idempotencyKey;
  }

  get transaction(): Step['transaction'] {
    return this.#step.transaction;
  }

  get emit(): EmitAny {
    return (name, data, options) => {
      // Because of the dot, subscribers get a digest: the key itself is nothing for them.
      const eventId = options?.eventId ?? `${this.idempotencyKey}.${this.#emitted++}`;
      const transaction = options?.transaction ?? this.#step.joined;
      return markHandled(
        this.#emit(name, data, { ...options, eventId, ...(transaction && { transaction }) }),
      );
    };
  }
}

/** Makes the facts about the client of a call. */
export function clientFacts({ client, capabilities, revision }: Peer): ClientFacts {
  return {
    info: client,
    capabilities,
    revision,
    require(capability) {
      if (capabilities[capability] === undefined) throw missingCapability({ [capability]: {} });
    },
  };
}

type ReportProgress = (
  ...values: [...Parameters<Context['progress']>, meta?: JsonObject | undefined]
) => void;

type ProgressParams = JsonObject & { readonly progress: number };

/**
 * The params of `notifications/progress` for the arguments of `ctx.progress`; undefined if nothing is to be sent. The value must grow with
 * each notification (spec, Progress).
 */
function nextProgress(
  values: readonly unknown[],
  last: number,
  call: Pick<Call, 'params'>,
): ProgressParams | undefined {
  const params = readProgress(values);
  const token = progressToken(call.params);
  if (token === undefined || params === undefined || !(params.progress > last)) return undefined;
  return { progressToken: token, ...params };
}

// A number that is not finite, such as 0/0, should not end a tool. A value of another type is a mistake.
function readProgress([done, total, message, meta]: readonly unknown[]): ProgressParams | undefined {
  if (typeof done !== 'number') throw wrongType('the first argument must be a number', done);
  if (total !== undefined && typeof total !== 'number') throw wrongType('the total must be a number', total);
  if (message !== undefined && typeof message !== 'string')
    throw wrongType('the message must be a string', message);
  if (!Number.isFinite(done)) return undefined;
  return {
    progress: done,
    ...(Number.isFinite(total) && { total }),
    ...(message !== undefined && { message }),
    ...(isObject(meta) && { _meta: meta }),
  };
}

function wrongType(problem: string, value: unknown): TypeError {
  return new TypeError(
    `ctx.progress(): ${problem}, not ${value === null ? 'null' : `a value of type ${typeof value}`}.`,
  );
}
