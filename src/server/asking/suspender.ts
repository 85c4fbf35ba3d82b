// The decisions about a run that its host takes: what happens while it waits, and how its steps are saved.

import type { OpenQuestion } from './open-questions.js';
import type { PendingTransaction } from './step-transaction.js';

/** Decides what happens while a run waits for answers, and saves its steps. */
export interface Suspender {
  /** Called when the handler can only wait. `Replay.end` ends the run; otherwise the handler keeps waiting. */
  readonly onIdle: (open: ReadonlyMap<string, OpenQuestion>) => void;
  /**
   * Called when a step has ended and is in the journal, to save the journal. If it rejects, the handler gets that error instead
   * of the step's result, and the run is over.
   */
  readonly onStep?: () => Promise<void>;
  /** Called before the work of a step starts. If it returns a promise, the step waits for it, and does not start if the run is over. */
  readonly beforeStep?: () => Promise<void> | undefined;
  /** Makes the transaction of a step. Default: steps have none. */
  readonly transaction?: (key: string) => PendingTransaction;
}
