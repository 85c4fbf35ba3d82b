// Serves with several worker processes on one machine.

import cluster, { type Worker } from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { type BackoffOptions, backoff } from '../../../async/delay.js';
import type { Logger } from '../../../server/state/log.js';
import type { Cluster } from '../../../state/cluster.js';
import type { OuterOptions } from '../config/outer-options.js';
import type { Serving } from '../server/serve.js';
import { endUnserved, onSignals } from '../server/signals.js';
import { closeConnectionsWith } from './close-connections.js';
import { isOurs, type ProcessChannel, type ToPrimary, type ToWorker } from './messages.js';
import { PrimaryState } from './primary-state.js';
import { workerCluster } from './worker-cluster.js';

/** The options of `serveWithWorkers`. */
export interface WorkersOptions {
  readonly count: number | 'auto';
  /** The options from outside of the program, which all workers share. */
  readonly settings: OuterOptions;
  /** Whether workers need a secret from this process, because neither the options nor the environment have one. */
  readonly needsSecret: boolean;
  readonly urlOf: (port: number) => string;
  /** The time that workers have to end by themselves. */
  readonly closeMs: number;
  readonly signals: boolean;
  readonly exit: boolean;
  readonly log: Logger;
}

/** Set in the environment of a worker. */
const WORKER = 'FULLMCP_WORKER';
const RESTART: BackoffOptions = { baseMs: 100, maxMs: 30_000 };
/** The time for this process to exit after workers that had to be killed. */
const EXIT_MS = 1000;
/** A worker that ran for this long did not fail because of its start. */
const STARTED_MS = 10_000;
/** After this many workers in a row that ended at their start, the program is wrong, not the worker. */
const MAX_FAILED_STARTS = 5;

/** Whether this process is a worker of `serve`. */
export function isWorker(): boolean {
  return cluster.isWorker && process.env[WORKER] !== undefined;
}

/** The state that this worker shares with the other workers, in the primary process. */
export function primaryCluster(): Cluster {
  const listeners = new Set<(message: ToWorker) => void>();
  process.on('message', (message) => {
    if (isOurs(message)) for (const listener of listeners) listener(message as ToWorker);
  });
  return workerCluster({
    send: (message: ToPrimary) => void process.send?.(message),
    onMessage: (listener) => void listeners.add(listener),
    onClose: (listener) => void process.once('disconnect', listener),
  });
}

/** Lets this worker exit as soon as it has nothing left to do: the channel to the primary process keeps it running no longer. */
export function releasePrimary(): void {
  process.channel?.unref();
}

/** The options from outside of the program, as the primary process has read them. */
export function settingsOfPrimary(): Promise<OuterOptions> {
  return new Promise((resolve) => {
    const listen = (message: unknown): void => {
      if (!isOurs(message) || (message as ToWorker).fullmcp !== 'settings') return;
      process.off('message', listen);
      resolve((message as { settings: OuterOptions }).settings);
    };
    process.on('message', listen);
    process.send?.({ fullmcp: 'settings' } satisfies ToPrimary);
  });
}

/** Starts the workers, and replaces those that end. Resolves when all of them listen. */
export async function serveWithWorkers(options: WorkersOptions): Promise<Serving> {
  const { needsSecret, urlOf, closeMs, signals, exit, log } = options;
  const count = options.count === 'auto' ? availableParallelism() : options.count;
  const supervisor = new Supervisor(count, {
    env: { [WORKER]: '1', ...(needsSecret && { MCP_SECRET: randomBytes(32).toString('hex') }) },
    settings: options.settings,
    warn: (message) => log('warning', message),
  });
  let closing: Promise<void> | undefined;
  function close(): Promise<void> {
    closing ??= supervisor.close(closeMs).finally(() => ignoreSignals?.());
    return closing;
  }
  const ignoreSignals = signals
    ? onSignals({
        close,
        abandon: () => supervisor.kill(),
        exit,
        drainMs: 0,
        closeMs: closeMs + EXIT_MS,
        onFailure: (error) => log('error', 'The workers could not be closed', error),
      })
    : undefined;
  let port: number | undefined;
  try {
    // A signal may come before the workers listen.
    port = await Promise.race([supervisor.start(), supervisor.closed.then(() => undefined)]);
  } catch (error) {
    await close();
    throw error;
  }
  if (port === undefined) endUnserved(exit);
  return { url: urlOf(port), port, close, closed: supervisor.closed, [Symbol.asyncDispose]: close };
}

interface SupervisorOptions {
  readonly settings: OuterOptions;
  readonly env: Readonly<Record<string, string>>;
  readonly warn: (message: string) => void;
}

/** Keeps a number of workers running. */
class Supervisor {
  readonly #count: number;
  readonly #options: SupervisorOptions;
  readonly #state = new PrimaryState();
  readonly #workers = new Set<Worker>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly closed: Promise<void>;
  #onClosed!: () => void;
  #failedStarts = 0;
  #isClosing = false;
  #onFailure: ((error: Error) => void) | undefined;

  constructor(count: number, options: SupervisorOptions) {
    this.#count = count;
    this.#options = options;
    this.closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
  }

  /** Starts all workers. Resolves with their port when each of them listens; rejects if they cannot start. */
  start(): Promise<number> {
    return new Promise((resolve, reject) => {
      let listening = 0;
      this.#onFailure = reject;
      for (let n = 0; n < this.#count; n++)
        this.#fork((port) => {
          if (++listening === this.#count) resolve(port);
        });
    });
  }

  /** Ends all workers: each finishes its open calls. Those that do not end in time are killed. */
  async close(closeMs: number): Promise<void> {
    this.#isClosing = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const ends = [...this.#workers].map(
      (worker) => new Promise<void>((resolve) => worker.once('exit', () => resolve())),
    );
    for (const worker of this.#workers) worker.process.kill('SIGTERM');
    const kill = setTimeout(() => this.kill(), closeMs);
    await Promise.all(ends);
    clearTimeout(kill);
    await this.#state.close();
    this.#onClosed();
  }

  /** Ends all workers at once. */
  kill(): void {
    for (const worker of this.#workers) worker.process.kill('SIGKILL');
  }

  #fork(onListening: (port: number) => void): void {
    const worker = cluster.fork({ ...this.#options.env });
    closeConnectionsWith(worker.process);
    const startedAt = performance.now();
    this.#workers.add(worker);
    const channel = channelOf(worker);
    this.#state.serve(channel);
    channel.onMessage((message) => {
      if (message.fullmcp === 'settings') channel.send({ ...message, settings: this.#options.settings });
    });
    worker.once('listening', ({ port }) => onListening(port));
    worker.once('exit', (code, signal) => {
      this.#workers.delete(worker);
      if (!this.#isClosing)
        this.#replace({ code, signal, ranMs: performance.now() - startedAt, onListening });
    });
  }

  #replace({ code, signal, ranMs, onListening }: WorkerEnd): void {
    this.#failedStarts = ranMs < STARTED_MS ? this.#failedStarts + 1 : 0;
    const reason = signal ? `by ${signal}` : `with code ${code}`;
    if (this.#failedStarts >= MAX_FAILED_STARTS) {
      const error = new Error(
        `${MAX_FAILED_STARTS} workers in a row ended within ${STARTED_MS / 1000} s of their start, the last one ${reason}. Its output says why.`,
      );
      this.#onFailure?.(error);
      this.#options.warn(error.message);
    } else this.#options.warn(`A worker process ended ${reason}, and is replaced.`);
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.#fork(onListening);
      },
      backoff(Math.max(0, this.#failedStarts - 1), RESTART),
    );
    this.#timers.add(timer);
  }
}

interface WorkerEnd {
  readonly code: number;
  readonly signal: string | null;
  readonly ranMs: number;
  readonly onListening: (port: number) => void;
}

function channelOf(worker: Worker): ProcessChannel<ToWorker, ToPrimary> {
  return {
    // A worker that is gone needs no reply.
    send: (message) => void (worker.isConnected() && worker.send(message, () => undefined)),
    onMessage: (listener) =>
      void worker.on('message', (message) => isOurs(message) && listener(message as ToPrimary)),
    onClose: (listener) => void worker.once('exit', listener),
  };
}
