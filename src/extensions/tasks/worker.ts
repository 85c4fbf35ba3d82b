// The work of this process on tasks: which ones it holds, and how it hears of others.

import { McpError } from '../../protocol/errors.js';
import type { TasksOptions } from '../../server/define/task-options.js';
import type { TaskPluginParts } from '../../server/handle/task-host.js';
import type { TaskAnnouncement } from '../../server/state/changes.js';
import { Claims } from '../../state/claims.js';
import { LeaseKeeper } from '../../state/lease-keeper.js';
import type { Lease } from '../../state/store.js';
import { deadlineIn, LiveTasks } from './live-tasks.js';
import type { Process } from './operator.js';
import { readTask } from './requests.js';
import { Roll } from './roll.js';
import type { HeldTask } from './running/held-task.js';
import { LiveTask, type LiveTaskParts } from './running/live-task.js';
import { type TaskKeys, taskKeys } from './stored/keys.js';
import { Quota } from './stored/quota.js';
import { shutdownError } from './stored/saving-errors.js';
import { TaskSweep } from './sweep.js';
import { TakeUp } from './take-up.js';

/** The limits of tasks, with their defaults. */
export type TaskLimits = Required<TasksOptions>;

// The number of tasks that are started at the same time.
const LANES = 32;
/** The times between two looks into the queue. */
const BUSY_MS = 1000;
const IDLE_MS = 5000;

/** The tasks that this process works on. Any process of the server can take up any task. */
export class TaskWorker {
  readonly live: LiveTasks = new LiveTasks();
  readonly keys: TaskKeys;
  readonly quota: Quota;
  #owner: string | undefined;
  readonly #parts: TaskPluginParts;
  readonly #limits: TaskLimits;
  readonly #leases: LeaseKeeper;
  readonly #liveParts: LiveTaskParts;
  readonly #claims: Claims;
  readonly #sweep: TaskSweep;
  readonly #takeUp: TakeUp;
  readonly #roll: Roll;
  #starting = 0;
  /** Whether this process is announcing something itself. */
  #isAnnouncing = false;
  #closing: Promise<void> | undefined;
  #deadline: Promise<void> | undefined;
  readonly #creating = new Set<Promise<unknown>>();

  constructor(parts: TaskPluginParts, limits: TaskLimits) {
    const { store, log, workOf } = parts;
    const { leaseMs, parkMs, maxRunning, maxTaskBytes } = limits;
    this.#parts = parts;
    this.#limits = limits;
    this.keys = taskKeys(parts.server);
    const { keys, live } = this;
    this.quota = new Quota(store, keys.queue, limits);
    this.#leases = new LeaseKeeper(store, {
      leaseMs,
      // The store decides whether a task was lost: until then, a step that has run waits to be saved.
      keepsDoubtful: true,
      onFailure: (error) =>
        log('warning', 'The leases of running tasks could not be renewed. The server retries.', error),
      onRenewed: () => live.lookForAnswers(),
    });
    this.#liveParts = {
      ...{ store, keys, log, maxTaskBytes, parkMs, leases: this.#leases },
      onChange: (id) => this.#announce({ id }),
      mayPark: () => live.parked < maxRunning,
      onParked: (task, isParked) => {
        live.park(task, isParked);
        if (isParked) this.#claims.onRoom();
      },
      onOver: (task) => {
        live.delete(task);
        this.#claims.onRoom();
      },
      onHandedBack: (id) => this.#announce({ id, due: true }),
    };
    const owner = (): string => this.owner;
    this.#sweep = new TaskSweep({ store, keys, leaseMs, owner });
    const { server, release, serves } = parts;
    const describe = (): Process => ({ server, release, tasks: serves() });
    this.#roll = new Roll({ store, leaseMs, prefix: keys.workers, owner, describe });
    this.#takeUp = new TakeUp({
      ...{ live, liveParts: this.#liveParts, workOf, roll: this.#roll, owner },
      knows: parts.knows,
      migrate: parts.migrate,
    });
    this.#claims = new Claims({
      ...{ store, queue: keys.queue, leases: this.#leases, owner },
      room: () => Math.min(maxRunning - live.running - this.#takeUp.reading, LANES - this.#starting),
      take: (lease, requestedAt) => this.#take(lease, requestedAt),
      pauseMs: () => this.#afterClaim(),
      onFailure: (error) =>
        log('error', 'Unfinished tasks could not be read from the store. The server retries.', error),
    });
    parts.changes.subscribe({
      message: (message) => this.#onMessage(message),
      gap: () => {
        this.live.lookForAnswers();
        this.#claims.wake();
      },
    });
  }

  /** This process, to the store. Made when it is needed: Workers may not make random values while they load. */
  get owner(): string {
    this.#owner ??= crypto.randomUUID();
    return this.#owner;
  }

  /** Whether this process can run another task now. */
  get hasRoom(): boolean {
    return this.live.running < this.#limits.maxRunning;
  }

  /** Begins to claim tasks, with the first call. Resolves when the first claim has been made, or has failed. */
  async start(): Promise<void> {
    if (this.#closing !== undefined) return;
    await this.#parts.changes.ready();
    // While the store does not write, tasks can be read and claimed all the same.
    void this.#roll.start();
    await this.#claims.start();
  }

  /** Throws if the server is shutting down. */
  checkOpen(): void {
    if (this.#closing !== undefined) throw shutdownError();
  }

  /** Works on a task that this process has created. The shutdown waits until `create` has ended. */
  async create<T>(create: () => Promise<T>): Promise<T> {
    const creating = create();
    this.#creating.add(creating);
    try {
      return await creating;
    } finally {
      this.#creating.delete(creating);
    }
  }

  /** Makes a new task live. During a shutdown, call `leaveIfClosing` when its handler is known. */
  hold(
    held: HeldTask,
    { requestedAt, replay }: { requestedAt: number; replay?: ConstructorParameters<typeof LiveTask>[2] },
  ): LiveTask {
    this.#leases.keep(held.lease, () => this.live.lose(held.lease), requestedAt);
    const live = new LiveTask(this.#liveParts, held, replay);
    this.live.add(live);
    return live;
  }

  /** Leaves a new task to other processes if this process has begun to shut down meanwhile. */
  leaveIfClosing(live: LiveTask): void {
    if (this.#deadline !== undefined) void live.leave(this.#deadline);
  }

  /** Called when a task was added to the queue that nobody holds. */
  onEnqueued(id: string): void {
    this.#announce({ id, due: true });
    this.#claims.wake();
  }

  /** Called when an answer was added to the inbox of a task. */
  onAnswer(id: string): void {
    this.#announce({ id, due: true });
    this.#onDue(id);
  }

  /** Called when a client has cancelled a task. */
  onCancel(id: string, reason: string): void {
    this.live.get(id)?.stop(new McpError('cancelled', reason));
    this.#announce({ id });
  }

  /** Called when a task may or may not have changed: only a look into the store can tell. */
  onDoubt(id: string): void {
    this.#announce({ id });
  }

  /** Removes the counts of finished tasks that have expired. */
  sweep(): Promise<void> {
    return this.#sweep.sweep();
  }

  /** Leaves all tasks for other processes. Running steps have `drainMs` to finish. */
  close(drainMs: number): Promise<void> {
    this.#closing ??= this.#close(drainMs);
    return this.#closing;
  }

  async #close(drainMs: number): Promise<void> {
    const { deadline, done } = deadlineIn(drainMs);
    this.#deadline = deadline;
    const claimed = this.#claims.close();
    const signedOff = this.#roll.close();
    await this.live.leave(deadline);
    await Promise.race([Promise.allSettled([...this.#creating, claimed]), deadline]);
    await this.live.leave(deadline);
    await Promise.race([signedOff, deadline]);
    done();
    this.#leases.close();
  }

  /** Notes the number of unfinished tasks. Returns the time until the next look. */
  async #afterClaim(): Promise<number> {
    const size = await this.#parts.store.size(this.keys.queue);
    this.quota.noteSize(size);
    await this.#sweep.look();
    return size > 0 ? BUSY_MS : IDLE_MS;
  }

  #take(lease: Lease, requestedAt: number): void {
    this.#starting++;
    this.#takeUp
      .take(lease, requestedAt)
      .catch((error) => {
        this.#leases.drop(lease);
        this.#parts.log('error', `A task could not be taken up. Another process takes it up later.`, error);
      })
      .finally(() => {
        this.#starting--;
        this.#claims.onRoom();
      });
  }

  #announce(message: TaskAnnouncement): void {
    this.#isAnnouncing = true;
    try {
      this.#parts.changes.publish(message);
    } finally {
      this.#isAnnouncing = false;
    }
  }

  #onMessage({ id, due }: TaskAnnouncement): void {
    if (this.#isAnnouncing) return;
    if (due === true) this.#onDue(id);
    else void this.#checkHeld(id);
  }

  #onDue(id: string): void {
    const live = this.live.get(id);
    if (live === undefined) this.#claims.wake();
    else live.look();
  }

  // Only this process changes a task that it holds, unless the task was cancelled or the lease is lost.
  async #checkHeld(id: string): Promise<void> {
    const live = this.live.get(id);
    if (live === undefined) return;
    const task = await readTask(this.#parts.store, live.held.place).catch(() => undefined);
    if (task?.head.status === 'cancelled')
      live.stop(new McpError('cancelled', task.head.statusMessage ?? 'The task was cancelled'));
    else if (!live.isOver) await this.#leases.renew();
  }
}
