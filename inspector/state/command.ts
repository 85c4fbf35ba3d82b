// A command that a part of the page has started: whether it runs, and why it failed.

import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import type { Failure } from '../../src/inspector/contract/failure.js';
import { CommandFailure } from './api.js';

export interface RunningCommand {
  readonly isRunning: Signal<boolean>;
  readonly failure: Signal<Failure | undefined>;
  /** Does the work. Resolves with whether it succeeded; a failure is kept until the next start. */
  readonly start: (work: () => Promise<unknown>) => Promise<boolean>;
}

export function useCommand(): RunningCommand {
  const isRunning = useSignal(false);
  const failure = useSignal<Failure | undefined>(undefined);
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  const start = useCallback(async (work: () => Promise<unknown>): Promise<boolean> => {
    isRunning.value = true;
    failure.value = undefined;
    try {
      await work();
      return true;
    } catch (error) {
      if (isShown.current) failure.value = failureOf(error);
      return false;
    } finally {
      if (isShown.current) isRunning.value = false;
    }
  }, []);
  return { isRunning, failure, start };
}

function failureOf(error: unknown): Failure {
  if (error instanceof CommandFailure) return error.failure;
  return { code: 'failed', message: error instanceof Error ? error.message : String(error) };
}
