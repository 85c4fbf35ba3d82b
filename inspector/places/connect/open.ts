// Opens a connection and shows it.

import { type Signal, signal } from '@preact/signals';
import type { TargetSpec } from '../../../src/inspector/contract/connection.js';
import type { Failure } from '../../../src/inspector/contract/failure.js';
import { CommandFailure, run } from '../../state/api.js';
import { go } from '../../state/route.js';
import { current } from '../../state/store.js';

/** Why nothing was tried: the address cannot be read, or the inspector does not answer. */
export const openFailure: Signal<Failure | undefined> = signal(undefined);
export const isOpening: Signal<boolean> = signal(false);

/** Connects; `replaced` is a connection that nobody needs any more then. */
export async function open(spec: TargetSpec, replaced?: string): Promise<void> {
  openFailure.value = undefined;
  isOpening.value = true;
  try {
    const { connection } = await run('connect', spec);
    current.value = connection;
    go('tools');
    if (replaced !== undefined) await run('disconnect', { connection: replaced });
  } catch (error) {
    openFailure.value =
      error instanceof CommandFailure ? error.failure : { code: 'failed', message: String(error) };
  } finally {
    isOpening.value = false;
  }
}
