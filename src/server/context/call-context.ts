import { hasEnded, onEnd, withSignal, withSignalOf } from '../../async/lifetime.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Auth, Call, HttpFacts } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import { cancelledBy } from '../../protocol/errors.js';
import { progressToken } from '../../protocol/meta.js';
import type { ResourceContents } from '../../protocol/model/content.js';
import { atLeast } from '../../protocol/tables/log-level.js';
import type { Schema } from '../../schema/schema.js';
import {
  checkCapabilities,
  type FormQuestion,
  formQuestion,
  missingCapability,
  type Question,
  requiredCapabilities,
  rootsQuestion,
  sampleQuestion,
  type UrlQuestion,
  urlQuestion,
} from '../asking/question.js';
import { Replay } from '../asking/replay.js';
import { checkKey, markHandled, NestedRun, type Run } from '../asking/run.js';
import { ToolError } from '../results/tool-error.js';
import type { ToolResult } from '../results/tool-result.js';
import type { Changed } from '../state/bus.js';
import { LogCount, loggable, logOf } from './call-log.js';
import type { CallTimeout } from './call-timeout.js';
import type { ClientFacts, Context, ContextLog, Elicit } from './context.js';
import { readProgress } from './progress.js';
import type { PreparedInputs, RunInputs, SentSoFar } from './run-inputs.js';

/** The parts of a server that its calls use. */
export interface Services {
  /** Makes the run of a call when the call first asks or takes a step. */
  readonly begin: () => Replay;
  readonly changed: Changed;
  readonly read: (nested: NestedCall, uri: string) => Promise<readonly ResourceContents[]>;
  readonly callTool: (nested: NestedCall, name: string, args: Readonly<JsonObject>) => Promise<ToolResult>;
}

/** A call that a handler makes inside its own: its questions are the outer call's. */
export interface NestedCall {
  readonly inputs: PreparedInputs;
  readonly call: Call;
  readonly asking: Run;
}

/** Members are made when a handler first touches them; a handler that uses none pays for none. */
export class CallContext<State, User> implements Context<State, User> {
  readonly state: State;
  readonly user: User;
  #call: Call;
  readonly #services: Services;
  readonly #inputs: RunInputs<State, User>;
  #asking: Run | undefined;
  #ended: Error | undefined;
  #left = false;
  #unlisten: (() => void) | undefined;
  #reached: number;
  #logs: LogCount | undefined;
  #nestedCalls = 0;
  #timeout: CallTimeout | undefined;
  #background: (() => Promise<void>) | undefined;
  #leaving: Promise<void> | undefined;

  constructor(call: Call, services: Services, inputs: RunInputs<State, User>) {
    this.#call = call;
    this.#services = services;
    this.#inputs = inputs;
    if (inputs.asking !== undefined) this.#asking = this.#bind(inputs.asking);
    this.#reached = inputs.sent?.reached ?? Number.NEGATIVE_INFINITY;
    this.state = inputs.state;
    this.user = inputs.user;
  }

  /** The questions and steps of this call; undefined while there are none, or where they are an outer call's. */
  get asking(): Replay | undefined {
    return this.#asking instanceof Replay ? this.#asking : undefined;
  }

  get sent(): SentSoFar {
    const logged = Math.max(this.#logs?.logged ?? 0, this.#inputs.sent?.logged ?? 0);
    return { logged, reached: this.#reached === Number.NEGATIVE_INFINITY ? undefined : this.#reached };
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
   * The handler continues as a task: from now on its signal, its progress, its log and its inner calls are those of the task's
   * call, and its run is over when that call is. The caller and the HTTP request stay as they were.
   */
  continueAs(call: Call): void {
    this.#unlisten?.();
    const { auth, http } = this.#call;
    this.#call = withSignalOf(call, { ...call, auth, http });
    this.#timeout?.follow(call);
    if (this.#asking !== undefined) this.#bind(this.#asking);
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
    const { client, capabilities, revision } = this.#call.peer;
    return {
      info: client,
      capabilities,
      revision,
      require(capability) {
        if (capabilities[capability] === undefined) throw missingCapability({ [capability]: {} });
      },
    };
  }

  get changed(): Changed {
    return this.#services.changed;
  }

  get progress(): Context['progress'] {
    return (done, total, message) => {
      const reached = readProgress({ done, total, message });
      const token = progressToken(this.#call.params);
      // The value must grow with each notification (spec, Progress).
      if (token === undefined || reached === undefined || !(done > this.#reached)) return;
      this.#reached = done;
      this.#call.notify('notifications/progress', { progressToken: token, ...reached });
    };
  }

  get log(): ContextLog {
    return logOf((level, data, logger) => {
      const wanted = this.#call.peer.logLevel;
      if (wanted === undefined || !atLeast(level, wanted)) return;
      // Messages that an earlier round sent are not sent again.
      if (!this.#logCount().isNew()) return;
      const params = { level, ...(logger !== undefined && { logger }), data: loggable(data) };
      this.#call.notify('notifications/message', params);
    });
  }

  #logCount(): LogCount {
    this.#logs ??= this.#inputs.logs ?? new LogCount(this.#inputs.sent?.logged ?? 0);
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
    return (key, question) =>
      markHandled(
        this.#ask(key, () => formQuestion(question)).then((answer) => {
          if (answer.action === 'accept') return answer.content;
          throw new ToolError(
            answer.action === 'decline' ? `The user declined: ${key}` : `The user cancelled: ${key}`,
          );
        }),
      );
  }

  get sample(): Context['sample'] {
    return (key, options) => this.#ask(key, () => sampleQuestion(options));
  }

  get roots(): Context['roots'] {
    return (key) => this.#ask(key, rootsQuestion);
  }

  get step(): Context['step'] {
    return (key, work) => this.#questions().step(key, work);
  }

  #ask<T>(key: string, make: () => Question<T>): Promise<T> {
    try {
      checkKey(key);
      const question = make();
      checkCapabilities(requiredCapabilities(question.request), this.#call.peer.capabilities);
      return this.#questions().ask(key, question);
    } catch (error) {
      return markHandled(Promise.reject(error));
    }
  }

  #questions(): Run {
    this.#asking ??= this.#bind(this.#services.begin());
    return this.#asking;
  }

  // The run of a call is over when the call is. The run of a nested call is a part of it and does not listen.
  #bind(run: Run): Run {
    if (this.#ended !== undefined) run.end(this.#ended);
    else if (this.#left) run.close();
    else if (run instanceof Replay) {
      const call = this.#call;
      const end = (): void => run.end(cancelledBy(call.signal.reason));
      if (hasEnded(call)) end();
      else this.#unlisten = onEnd(call, end);
    }
    return run;
  }

  /** Why the run of this handler is over; undefined while it is not. */
  get over(): Error | undefined {
    return this.#ended ?? this.#asking?.reason;
  }

  /** Ends the run before the handler does: from now on it can neither ask nor take a step. */
  end(reason: Error): void {
    this.#ended ??= reason;
    this.#asking?.end(reason);
  }

  /** The handler has ended. */
  leave(): void {
    this.#left = true;
    this.#unlisten?.();
    this.#asking?.close();
  }

  // A second call waits for the first.
  get background(): () => Promise<void> {
    return async () => {
      this.#leaving ??= this.#background?.();
      await this.#leaving;
    };
  }

  /** Sets the work of `background`, which does nothing by default. */
  onBackground(leave: (asking: Replay) => Promise<void>): void {
    this.#background = async () => {
      const asking = this.#questions() as Replay;
      // Nobody would know of a task that a cancelled call made.
      if (asking.reason !== undefined) throw asking.reason;
      await leave(asking);
    };
  }

  get read(): Context['read'] {
    return (uri) => markHandled(this.#services.read(this.#nested(uri), uri));
  }

  get call(): Context['call'] {
    return (name, args = {}) => markHandled(this.#services.callTool(this.#nested(name), name, args));
  }

  #nested(name: string): NestedCall {
    const prefix = `${name}#${++this.#nestedCalls}/`;
    const outer = { find: () => this.#asking, make: () => this.#questions() };
    const call = this.#timeout === undefined ? this.#call : withSignal(copyCall(this.#call), this.#timeout);
    const inputs = { ...this.#inputs, logs: this.#logCount() } as RunInputs<never, never>;
    return { inputs, call, asking: new NestedRun(outer, prefix) };
  }

  get release(): () => void {
    return () => this.#call.release?.();
  }
}
