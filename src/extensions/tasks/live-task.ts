import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError, toMcpError } from '../../protocol/errors.js';
import { Lifetime, withSignal } from '../../protocol/lifetime.js';
import { newestRevision } from '../../protocol/revisions.js';
import { Asking, type OpenQuestion, type Taken, type Waiting } from '../../server/asking/asking.js';
import { newJournal } from '../../server/asking/journal.js';
import type { Log } from '../../server/log.js';
import type { RunningCall, TaskWork } from '../../server/task-host.js';
import { expiresAt, isTerminal, type Task, writeTask } from './task.js';

export interface LiveTaskParts {
  readonly save: (id: string, json: JsonObject, expiresAt: number) => Promise<void>;
  readonly changed: (id: string) => void;
  readonly ended: (id: string) => void;
  readonly log: Log;
}

type NewTask = Omit<
  Task,
  'id' | 'updatedAt' | 'status' | 'statusMessage' | 'open' | 'journal' | 'result' | 'error'
>;

/** A task that runs in this process. It waits for answers where it stands; what it has so far is always in the store. */
export class LiveTask {
  readonly task: Task;
  readonly #parts: LiveTaskParts;
  readonly #lifetime = new Lifetime();
  #asking: Asking;
  #saving: Promise<boolean> = Promise.resolve(true);
  #left = false;

  private constructor(parts: LiveTaskParts, task: Task) {
    this.#parts = parts;
    this.task = task;
    this.#asking = new Asking(task.journal, {}, this.#waiting);
  }

  static create(parts: LiveTaskParts, task: NewTask): LiveTask {
    return new LiveTask(parts, {
      ...task,
      id: crypto.randomUUID(),
      updatedAt: task.createdAt,
      status: 'working',
      statusMessage: undefined,
      open: {},
      journal: newJournal(),
      result: undefined,
      error: undefined,
    });
  }

  static resume(parts: LiveTaskParts, task: Task): LiveTask {
    return new LiveTask(parts, task);
  }

  /** Runs the handler from its top; what the journal knows returns at once. */
  start(run: TaskWork['run']): void {
    if (this.#left || isTerminal(this.task)) return;
    this.#follow(run(this.#call(), this.#asking));
  }

  /** Takes over a handler that ran as an ordinary call until now. */
  adopt({ ctx, asking, ended }: RunningCall): void {
    this.#asking = asking;
    this.task.journal = asking.journal(ctx.said);
    ctx.continueAs(this.#call());
    asking.waitWith(this.#waiting);
    this.#follow(ended);
  }

  #follow(ended: Promise<Outcome>): void {
    ended.then(
      (outcome) => {
        const { resultType, ...result } = outcome;
        this.#end('completed', { result: { resultType, ...result } });
      },
      (error) => this.fail(error),
    );
  }

  fail(error: unknown): void {
    // How a handler ends that was told to is not worth a word.
    if (this.#left || isTerminal(this.task)) return;
    const known = toMcpError(error);
    if (known !== error) this.#parts.log('error', `Task ${this.task.id} (${this.task.tool}) failed`, error);
    this.#end('failed', { error: known.toWire(newestRevision) });
  }

  #end(status: Task['status'], given: Partial<Pick<Task, 'result' | 'error' | 'statusMessage'>> = {}): void {
    if (this.#left || isTerminal(this.task)) return;
    Object.assign(this.task, given, { open: {} });
    this.#change(status);
    void this.saved().finally(() => this.#parts.ended(this.task.id));
  }

  readonly #waiting: Waiting = {
    settle: (open) => {
      // Nobody will answer any more, and what has ended stays as it ended.
      if (this.#left || isTerminal(this.task)) return this.#suspend();
      this.#keepJournal();
      this.task.open = requestsOf(open);
      this.#change('input_required');
    },
    record: async () => {
      this.#keepJournal();
      if (!(await this.save())) throw new McpError('internal_error', 'The step could not be saved');
    },
  };

  /**
   * Hands answers to the questions they belong to; what belongs to none is ignored. They are safe before the handler goes on
   * with them: what it does next must not be done again with other answers. False if they could not be kept.
   */
  async answer(responses: JsonObject): Promise<boolean> {
    if (this.#left) return false;
    if (isTerminal(this.task)) return true;
    const taken = Object.entries(responses).flatMap(([key, response]) => this.#take(key, response) ?? []);
    if (taken.length === 0) return this.saved();
    this.#keepJournal();
    this.#change(Object.keys(this.task.open).length === 0 ? 'working' : 'input_required');
    const kept = await this.saved();
    for (const { proceed } of taken) proceed();
    return kept;
  }

  #take(key: string, response: unknown): Taken | undefined {
    if (!Object.hasOwn(this.task.open, key)) return undefined;
    const question = this.#asking.open.get(key);
    // After a restart the client may be faster than the handler, which has yet to come to where it stood.
    const early = question === undefined && this.#asking.expect(key, response);
    const taken = early ? { proceed: ignore, reopen: ignore } : question?.answer(response);
    if (taken !== undefined) this.task.open = without(this.task.open, key);
    return taken;
  }

  async cancel(why: string): Promise<void> {
    this.#end('cancelled', { statusMessage: why });
    this.#stop(new McpError('cancelled', why));
    await this.saved();
  }

  /** The process ends; the task stays as it is, for the next one. */
  async leave(): Promise<void> {
    this.#left = true;
    this.#stop(new McpError('connection_closed', 'The server is shutting down'));
    await this.saved();
  }

  #stop(why: McpError): void {
    this.#lifetime.end(why);
    this.#suspend();
  }

  #suspend(): void {
    this.#asking.end();
  }

  /** Whether what is true now is in the store, once it is. */
  saved(): Promise<boolean> {
    return this.#saving;
  }

  #keepJournal(): void {
    const { logged, reached } = this.task.journal;
    this.task.journal = this.#asking.journal({ logged, reached });
  }

  #change(status: Task['status']): void {
    this.task.status = status;
    this.task.updatedAt = Date.now();
    void this.save().then(() => this.#parts.changed(this.task.id));
  }

  // One write after the other, each of what is true when its turn comes.
  save(): Promise<boolean> {
    if (this.#left) return this.#saving;
    this.#saving = this.#saving
      .then(() => this.#parts.save(this.task.id, writeTask(this.task), expiresAt(this.task)))
      .then(
        () => true,
        (error) => {
          this.#parts.log('error', `Task ${this.task.id} could not be saved`, error);
          return false;
        },
      );
    return this.#saving;
  }

  #call(): Call {
    const { id, tool, args, peer, principal } = this.task;
    const call = {
      id,
      method: 'tools/call',
      params: { name: tool, arguments: args, _meta: { progressToken: id } },
      peer,
      auth: principal === '' ? undefined : { subject: principal, scopes: [], claims: {} },
      notify: (method: string, params: JsonObject = {}) => {
        if (method === 'notifications/progress') this.#tell(params);
      },
    };
    return withSignal(call, this.#lifetime);
  }

  // Spec, Tasks: progress is not sent for tasks; how far they are stands in their status.
  #tell({ progress, total, message }: JsonObject): void {
    if (isTerminal(this.task)) return;
    const share = total === undefined ? `${progress}` : `${progress}/${total}`;
    this.task.progress = {
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    };
    this.task.statusMessage = typeof message === 'string' ? `${message} (${share})` : share;
    this.#change(this.task.status);
  }
}

function without(open: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(open).filter(([other]) => other !== key));
}

function ignore(): void {
  // The handler finds the answer when it comes to the question.
}

function requestsOf(open: ReadonlyMap<string, OpenQuestion>): JsonObject {
  return Object.fromEntries([...open].map(([key, { request }]) => [key, request]));
}
