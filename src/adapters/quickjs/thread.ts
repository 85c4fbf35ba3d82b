// A worker thread that runs programs, one turn after the other.

import { Worker } from 'node:worker_threads';
import { type CodeTurn, RealmLost } from '../../protocol/code/code-engine.js';
import type { FromThread, ToThread, WorkerStart } from './worker/protocol.js';
import { WORKER } from './worker/worker-text.js';

/** The address space for the calls of the engine, which are on the stack of the thread. With less, deep programs end the thread. */
const STACK_MB = 16;
/** The time for a turn beyond its limit, after which the thread is ended. The engine cannot interrupt some of its own functions. */
const GRACE_MS = 1000;
/** The time to load a program, and the package that removes types. */
const LOAD_MS = 60_000;

/** The programs of one caller that are open. */
export interface CallerShare {
  programs: number;
  /** The time that they have computed. */
  spentMs: number;
}

interface Job {
  readonly message: Exclude<ToThread, { do: 'end' }>;
  readonly share: CallerShare;
  readonly resolve: (turn: CodeTurn) => void;
  readonly reject: (reason: Error) => void;
}

/** A worker thread. When a program cannot be interrupted, the thread is ended, and the other programs in it are lost. */
export class Thread {
  readonly #worker: Worker;
  readonly #turnMs: number;
  readonly #onEnd: () => void;
  readonly #waiting: Job[] = [];
  readonly #realms = new Map<number, CallerShare>();
  #current: Job | undefined;
  #beganAt = 0;
  #isReady = false;
  #ended: RealmLost | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(start: WorkerStart, onEnd: () => void) {
    this.#turnMs = start.limits.turnMs;
    this.#onEnd = onEnd;
    this.#worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(WORKER)}`), {
      workerData: start,
      // The thread has nothing of the process but what it computes.
      env: {},
      argv: [],
      execArgv: [],
      stdin: false,
      resourceLimits: { stackSizeMb: STACK_MB },
    });
    this.#worker.on('message', (message: FromThread) => this.#take(message));
    this.#worker.on('error', (error) => this.#endWith(new RealmLost(String(error))));
    this.#worker.on('exit', () => this.#endWith(new RealmLost('its thread has ended')));
    this.#worker.unref();
  }

  /** The number of programs in the thread. */
  get size(): number {
    return this.#realms.size;
  }

  /** Whether a caller has programs in the thread. */
  has(share: CallerShare): boolean {
    return [...this.#realms.values()].includes(share);
  }

  /** Adds a program, which counts from now on. */
  add(realm: number, share: CallerShare): void {
    this.#realms.set(realm, share);
  }

  /** Runs a turn when it is the turn of its caller: the one whose programs have computed the least goes first. */
  run(message: Job['message']): Promise<CodeTurn> {
    const share = this.#realms.get(message.realm);
    if (this.#ended !== undefined || share === undefined)
      return Promise.reject(this.#ended ?? new RealmLost('it was ended'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ message, share, resolve, reject });
      // While a program computes, the process must not end.
      this.#worker.ref();
      this.#next();
    });
  }

  /** Removes a program. A turn that is running is not interrupted, and one that waits never begins. */
  remove(realm: number): void {
    if (!this.#realms.delete(realm) || this.#ended !== undefined) return;
    const reason = new RealmLost('it was ended');
    for (const job of this.#waiting.filter((each) => each.message.realm === realm)) {
      this.#waiting.splice(this.#waiting.indexOf(job), 1);
      job.reject(reason);
    }
    this.#worker.postMessage({ do: 'end', realm } satisfies ToThread);
  }

  async close(): Promise<void> {
    this.#endWith(new RealmLost('the server closes'));
    await this.#worker.terminate();
  }

  #take(message: FromThread): void {
    if ('begun' in message) return this.#endAfter(this.#turnMs + GRACE_MS);
    if ('loading' in message) return this.#endAfter(LOAD_MS);
    if ('ready' in message) this.#isReady = true;
    else {
      const job = this.#endTurn();
      job?.resolve(message.turn);
      if (message.isBroken === true) return this.#replace();
    }
    this.#next();
  }

  #next(): void {
    if (!this.#isReady || this.#current !== undefined || this.#ended !== undefined) return;
    const [first, ...others] = this.#waiting;
    if (first === undefined) {
      this.#worker.unref();
      return;
    }
    const job = others.reduce((one, other) => (other.share.spentMs < one.share.spentMs ? other : one), first);
    this.#waiting.splice(this.#waiting.indexOf(job), 1);
    this.#current = job;
    this.#beganAt = performance.now();
    this.#endAfter(job.message.do === 'start' ? LOAD_MS : this.#turnMs + GRACE_MS);
    this.#worker.postMessage(job.message);
  }

  #endTurn(): Job | undefined {
    const job = this.#current;
    if (job !== undefined) job.share.spentMs += performance.now() - this.#beganAt;
    this.#current = undefined;
    clearTimeout(this.#timer);
    return job;
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#endCurrent(), ms);
  }

  #endCurrent(): void {
    this.#endTurn()?.resolve({
      calls: [],
      printed: [],
      end: {
        kind: 'limit',
        message: `The program computed for more than ${this.#turnMs} ms in one function of the language, which could not be interrupted. Sort, join or search less at once.`,
      },
    });
    this.#replace();
  }

  /** Ends the thread, whose programs can run again in another one. */
  #replace(): void {
    this.#endWith(new RealmLost('another program has broken its thread'));
    void this.#worker.terminate();
  }

  #endWith(reason: RealmLost): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    clearTimeout(this.#timer);
    const jobs = [...(this.#current === undefined ? [] : [this.#current]), ...this.#waiting];
    this.#current = undefined;
    this.#waiting.length = 0;
    for (const { reject } of jobs) reject(reason);
    this.#onEnd();
  }
}
