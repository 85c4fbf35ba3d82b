// Closes a server at SIGTERM and SIGINT.

import { constants } from 'node:os';
import process from 'node:process';
import { timerMs } from '../../../protocol/checks/options.js';

/** The options of `onSignals`. */
export interface SignalOptions {
  /** Closes the server. */
  readonly close: () => Promise<void>;
  /** Called before a repeated signal ends the process at once. */
  readonly abandon?: () => void;
  /** Whether the process exits after the server is closed. */
  readonly exit: boolean;
  /** The time for which the process does not exit by itself: another server in it may still be draining. */
  readonly drainMs: number;
  /** The time after which the process exits all the same. */
  readonly closeMs: number;
  /** Reports that the server could not be closed. */
  readonly onFailure: (error: unknown) => void;
}

/** The time for the program to exit by itself when everything is closed. */
const EXIT_MS = 500;
/** Signals within this time count as one: a terminal, a shell and npm may each pass on the same signal. */
const ONE_SIGNAL_MS = 1000;
const names = ['SIGTERM', 'SIGINT'] as const;

/** Closes a server with the first signal, and ends the process with a later one. Returns the function that stops listening. */
export function onSignals(options: SignalOptions): () => void {
  const { close, abandon, exit, drainMs, closeMs, onFailure } = options;
  let signalledAt: number | undefined;

  function onSignal(signal: NodeJS.Signals): void {
    const now = performance.now();
    if (signalledAt !== undefined) {
      // The user does not want to wait.
      if (now - signalledAt >= ONE_SIGNAL_MS) endProcess(signal);
      return;
    }
    signalledAt = now;
    // A handler that ignores its signal, or a lifespan that does not end, must not keep the process running.
    if (exit) exitAfter(closeMs);
    close()
      .catch((error: unknown) => {
        process.exitCode = 1;
        onFailure(error);
      })
      .finally(() => exit && exitAfter(Math.max(0, drainMs + now - performance.now()) + EXIT_MS));
  }

  function endProcess(signal: NodeJS.Signals): void {
    stop();
    abandon?.();
    process.kill(process.pid, signal);
    // The first process of a container ignores a signal that it does not handle.
    process.exit(128 + constants.signals[signal]);
  }

  function stop(): void {
    for (const name of names) process.off(name, onSignal);
  }

  for (const name of names) process.on(name, onSignal);
  return stop;
}

/** Ends the process of a server that a signal has closed before it listened, or throws if the process is to stay. */
export function endUnserved(exit: boolean): never {
  if (exit) process.exit(process.exitCode ?? 0);
  throw new Error('A signal closed the server before it listened.');
}

// A process that has nothing left to do exits earlier.
function exitAfter(ms: number): void {
  setTimeout(() => process.exit(), timerMs(ms)).unref();
}
