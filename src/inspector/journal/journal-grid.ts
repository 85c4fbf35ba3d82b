// The journal of a replayed handler: its runs as columns, and the keys that it met as rows.

import type { JournalEvent } from '../contract/options.js';
import type { JournalCell, JournalRow, JournalView, QuestionView } from '../contract/story.js';

const MAX_RUNS = 50;
const MAX_ROWS = 200;
const MAX_VALUE = 500;

interface Row {
  readonly kind: JournalRow['kind'];
  readonly key: string;
  /** By run. */
  readonly cells: Map<number, JournalCell>;
  /** How often it ran for real. */
  ran: number;
  value?: string;
  idempotencyKey?: string;
  /** The warning of the server itself. */
  reported?: string;
}

/** The part of a story that its journal is made of. */
interface Asked {
  readonly rounds: readonly {
    readonly ms?: number;
    readonly outcome?: string;
    readonly stateBytes?: number;
  }[];
  readonly questions: readonly {
    readonly asked: Pick<QuestionView, 'key' | 'message' | 'round'>;
    readonly answer: object | undefined;
  }[];
}

/** Built from what the handlers of the server report. Without reports it is built from the questions alone. */
export class JournalGrid {
  readonly #rows: Row[] = [];
  readonly #runs = new Map<number, { ms?: number; outcome?: string; readonly met: string[] }>();

  add({ run, kind, key, cell, value, idempotencyKey, ms, warning }: JournalEvent): void {
    if (!Number.isSafeInteger(run) || run < 1 || run > MAX_RUNS) return;
    const column = this.#runs.get(run) ?? { met: [] };
    this.#runs.set(run, column);
    const row = this.#row(kind, key.slice(0, 200));
    if (row === undefined) return;
    if (!row.cells.has(run)) column.met.push(nameOf(row));
    if (cell === 'ran' || cell === 'threw') row.ran++;
    row.cells.set(run, cell);
    if (value !== undefined) row.value = value.slice(0, MAX_VALUE);
    if (idempotencyKey !== undefined) row.idempotencyKey = idempotencyKey.slice(0, 200);
    if (warning !== undefined) row.reported = warning.slice(0, MAX_VALUE);
    if (kind === 'return' && ms !== undefined) column.ms = ms;
    if (kind === 'return') column.outcome = cell;
    else if (cell === 'asked') column.outcome = 'asked';
  }

  view({ rounds }: Pick<Asked, 'rounds'>): JournalView {
    const last = Math.max(0, ...this.#runs.keys());
    const numbers = Array.from({ length: last }, (_, at) => at + 1);
    const stateBytes = rounds.findLast((round) => round.stateBytes !== undefined)?.stateBytes;
    return {
      hasSteps: true,
      runs: numbers.map((run) => {
        const { outcome, ms = timeOfRound(rounds[run - 1], outcome) } = this.#runs.get(run) ?? {};
        return { ...(ms !== undefined && { ms }), ...(outcome !== undefined && { outcome }) };
      }),
      rows: this.#rows.map((row) => this.#print(row, numbers)),
      ...(stateBytes !== undefined && { stateBytes }),
    };
  }

  #row(kind: Row['kind'], key: string): Row | undefined {
    const known = this.#rows.find((row) => row.kind === kind && row.key === key);
    if (known !== undefined || this.#rows.length >= MAX_ROWS) return known;
    const row: Row = { kind, key, cells: new Map(), ran: 0 };
    // The return is the last row, whatever later runs meet.
    const at = this.#rows.findIndex((other) => other.kind === 'return');
    if (at === -1 || kind === 'return') this.#rows.push(row);
    else this.#rows.splice(at, 0, row);
    return row;
  }

  #print(row: Row, runs: readonly number[]): JournalRow {
    const warning = row.ran > 1 ? ranTwice(row) : (row.reported ?? this.#missing(row));
    return {
      kind: row.kind,
      key: row.key,
      cells: runs.map((run) => row.cells.get(run) ?? 'none'),
      ...(row.value !== undefined && { value: row.value }),
      ...(row.idempotencyKey !== undefined && { idempotencyKey: row.idempotencyKey }),
      ...(warning !== undefined && { warning }),
    };
  }

  /** A handler that is the same on each run meets the same keys in the same order; a later run meets more of them. */
  #missing(row: Row): string | undefined {
    if (row.kind === 'return') return undefined;
    const name = nameOf(row);
    for (const run of row.cells.keys()) {
      const [here, next] = [this.#runs.get(run)?.met ?? [], this.#runs.get(run + 1)?.met];
      const at = here.indexOf(name);
      if (next === undefined || at === -1) continue;
      // A run that is not over may still get there.
      const isThere = next.length <= at ? this.#runs.get(run + 1)?.outcome === undefined : next[at] === name;
      if (!isThere)
        return `Run ${run} met "${row.key}" at place ${at + 1}, and run ${run + 1} did not. The handler must do the same on each run: move anything that can differ (time, chance, files) into a step.`;
    }
    return undefined;
  }
}

/** The rows that questions alone show: each is asked in one run, and known in the runs after it. */
export function journalOfQuestions({ questions, rounds }: Asked): JournalView {
  const runs = rounds.map(({ ms, outcome }) => ({
    ...(ms !== undefined && { ms }),
    ...(outcome !== undefined && { outcome }),
  }));
  const stateBytes = rounds.findLast((round) => round.stateBytes !== undefined)?.stateBytes;
  return {
    hasSteps: false,
    runs,
    rows: questions.map(({ asked, answer }) => ({
      kind: 'ask',
      key: asked.key ?? asked.message.slice(0, 100),
      cells: runs.map((_, at): JournalCell => {
        if (at + 1 === asked.round) return 'asked';
        return at + 1 > asked.round && answer !== undefined ? 'known' : 'none';
      }),
      ...(answer && { value: JSON.stringify(answer).slice(0, MAX_VALUE) }),
    })),
    ...(stateBytes !== undefined && { stateBytes }),
  };
}

/** A run that asks ends with its round: the server reports only the time of the run that returns. */
function timeOfRound(
  round: Asked['rounds'][number] | undefined,
  outcome: string | undefined,
): number | undefined {
  return outcome === 'asked' ? round?.ms : undefined;
}

function ranTwice({ key, idempotencyKey }: Row): string {
  const hint =
    idempotencyKey === undefined
      ? ''
      : ` Its idempotency key is ${idempotencyKey}: pass it on to what the step calls.`;
  return `"${key}" ran more than once: it threw, or the process ended before its result was kept.${hint}`;
}

function nameOf({ kind, key }: Pick<Row, 'kind' | 'key'>): string {
  return `${kind} ${key}`;
}
