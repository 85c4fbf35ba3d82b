// The steps of connecting, as the page shows them.

import type { ConnectStep } from '../../contract/connection.js';
import type { SeenStep } from '../../wiretap/seen.js';

const MAX_STEPS = 100;

export class ConnectLog {
  #steps = new Map<number, ConnectStep>();

  /** Whether steps are taken: only while a connection is made. */
  isOpen = true;

  take({ id, what, outcome, detail }: SeenStep): boolean {
    const known = this.#steps.get(id);
    if (known === undefined && (!this.isOpen || this.#steps.size >= MAX_STEPS)) return false;
    const at = known?.at ?? Date.now();
    this.#steps.set(id, {
      what: known?.what ?? what.slice(0, 500),
      at,
      outcome,
      ...(outcome !== 'running' && { ms: Date.now() - at }),
      ...(detail !== undefined && { detail: detail.slice(0, 1000) }),
    });
    return true;
  }

  /** A step of our own. */
  add(step: ConnectStep): void {
    this.#steps.set(-1 - this.#steps.size, step);
  }

  get steps(): readonly ConnectStep[] {
    return [...this.#steps.values()];
  }
}
