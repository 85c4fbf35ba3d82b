// The grid of a journal: the runs of a handler as columns, the keys that they met as rows.

import type { JournalEvent } from '../contract/options.js';
import type { JournalCell, JournalRow, JournalView } from '../contract/story.js';

const MAX_RUNS = 100;
const MAX_ROWS = 500;

interface Row {
  readonly kind: JournalRow['kind'];
  readonly key: string;
  /** By the number of the run. */
  readonly cells: Map<number, JournalCell>;
  value?: string | undefined;
  idempotencyKey?: string | undefined;
  warning?: string | undefined;
}

/** Collects the events of one call. */
export class JournalGrid {
  /** Those of a handler, the first one first. */
  readonly #runs: { outcome?: string; ms?: number }[] = [];
  readonly #rows = new Map<string, Row>();

  /** Adds an event. Returns false if there is no room for it. */
  add(event: JournalEvent): boolean {
    if (event.run < 1 || event.run > MAX_RUNS) return false;
    while (this.#runs.length < event.run) this.#runs.push({});
    const run = event.run - 1;
    if (event.kind === 'return') this.#runs[run] = endOf(event);
    // A run that ended to ask has no result.
    if (event.kind === 'return' && event.cell === 'asked') return true;
    const row = this.#row(event);
    if (row === undefined) return false;
    row.cells.set(run, event.cell);
    row.value = event.value ?? row.value;
    row.idempotencyKey = event.idempotencyKey ?? row.idempotencyKey;
    row.warning = event.warning ?? ranTwice(row) ?? row.warning;
    return true;
  }

  /** The grid; undefined if nothing was reported. */
  view(): JournalView | undefined {
    const runs = this.#runs;
    if (runs.length === 0) return undefined;
    // The end is the last row, whenever it was reported.
    const rows = [...this.#rows.values()].sort(
      (a, b) => Number(a.kind === 'return') - Number(b.kind === 'return'),
    );
    return {
      hasSteps: true,
      runs: runs.map((run) => ({ ...run })),
      rows: rows.map(({ kind, key, cells, value, idempotencyKey, warning }) => ({
        kind,
        key,
        cells: runs.map((_, at) => cells.get(at) ?? 'none'),
        ...(value !== undefined && { value }),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...(warning !== undefined && { warning }),
      })),
    };
  }

  #row({ kind, key }: JournalEvent): Row | undefined {
    const id = `${kind} ${key}`;
    const known = this.#rows.get(id);
    if (known !== undefined || this.#rows.size >= MAX_ROWS) return known;
    const row: Row = { kind, key, cells: new Map() };
    this.#rows.set(id, row);
    return row;
  }
}

function ranTwice({ kind, cells }: Row): string | undefined {
  const times = [...cells.values()].filter((cell) => cell === 'ran').length;
  if (kind !== 'step' || times < 2) return undefined;
  return `It ran ${times} times: its earlier result was lost on the way.`;
}

function endOf({ cell, ms }: JournalEvent): { outcome: string; ms?: number } {
  return { outcome: cell === 'asked' ? 'asks' : cell, ...(ms !== undefined && { ms }) };
}
