// The steps of connecting, each with its beginning and its end.

import type { SeenStep } from './seen.js';

/** Ends a step. Only the first call counts. */
export type EndStep = (outcome: 'ok' | 'failed', detail?: string) => void;

export class ConnectSteps {
  readonly #report: (step: SeenStep) => void;
  #last = 0;

  constructor(report: (step: SeenStep) => void) {
    this.#report = report;
  }

  begin(what: string): EndStep {
    const id = ++this.#last;
    let isOver = false;
    this.#report({ id, what, outcome: 'running' });
    return (outcome, detail) => {
      if (isOver) return;
      isOver = true;
      this.#report({ id, what, outcome, ...(detail !== undefined && { detail }) });
    };
  }
}
