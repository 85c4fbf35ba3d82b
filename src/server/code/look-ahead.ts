// Runs a program ahead of what was approved, to see what it would change: what reads is called, what changes something is not.

import type { JsonObject } from '../../jsonrpc/message.js';
import {
  type CodeCall,
  type CodeRealm,
  type CodeResult,
  type CodeTurn,
  RealmLost,
} from '../../protocol/code/code-engine.js';
import type { Approvals } from './approvals.js';
import type { ProgramCalls } from './program-calls.js';

/** The calls that a program would make if the calls that are held succeeded. */
export interface Ahead {
  /** The calls that need an approval, the held ones first. */
  readonly calls: readonly CodeCall[];
  /** Whether the program returned without a look at the result of a call that was not made. Otherwise more calls may follow. */
  readonly isComplete: boolean;
}

/** The place of a program from which to look ahead. */
export interface LookAheadParts {
  /** Another realm of the program. */
  readonly realm: CodeRealm;
  /** The results that the program was given. */
  readonly given: readonly CodeResult[];
  /** The calls that wait for an approval. */
  readonly held: readonly CodeCall[];
  readonly calls: ProgramCalls;
  readonly approvals: Approvals;
  readonly maxCalls: number;
  /** The time on the program's clock. */
  readonly now: number;
}

/** The reads that are made at the same time. */
const MAX_IN_FLIGHT = 16;

/** Looks ahead. Ends the realm. */
export async function lookAhead(parts: LookAheadParts): Promise<Ahead> {
  const ahead = new LookAhead(parts);
  try {
    return await ahead.toEnd();
  } finally {
    parts.realm.end();
  }
}

/** A call whose result the program waits for. Without `read`, it is not made. */
interface Waiting {
  readonly seq: number;
  readonly read: (() => Promise<CodeResult>) | undefined;
}

class LookAhead {
  readonly #parts: LookAheadParts;
  readonly #planned: CodeCall[];
  readonly #waiting: Waiting[];

  constructor(parts: LookAheadParts) {
    this.#parts = parts;
    this.#planned = [...parts.held];
    this.#waiting = parts.held.map(({ seq }) => ({ seq, read: undefined }));
  }

  async toEnd(): Promise<Ahead> {
    const isComplete = await this.#run().catch((error: unknown) => {
      if (error instanceof RealmLost) return false;
      throw error;
    });
    return { calls: this.#planned, isComplete };
  }

  async #run(): Promise<boolean> {
    const { realm, given } = this.#parts;
    await realm.run();
    for (const result of given) await realm.run(result);
    for (;;) {
      const results = await Promise.all(
        this.#waiting.splice(0, MAX_IN_FLIGHT).map((one) => this.#resultOf(one)),
      );
      if (results.length === 0) return false;
      for (const result of results) {
        const turn = await realm.run(result);
        const isOver = await this.#take(turn);
        if (isOver !== undefined) return isOver;
      }
    }
  }

  #resultOf({ seq, read }: Waiting): Promise<CodeResult> | CodeResult {
    return read?.() ?? { seq, now: this.#parts.now, kind: 'unknown' };
  }

  /** Takes what the program did in a turn. Returns whether it has returned, once it is over. */
  async #take({ calls, end }: CodeTurn): Promise<boolean | undefined> {
    const { approvals, maxCalls } = this.#parts;
    for (const call of calls) {
      const { seq } = call;
      if (seq > maxCalls) return false;
      const kind = await approvals.kindOf(call);
      if (kind === 'held') this.#planned.push(call);
      const isMade = kind === 'read' || kind === 'missing';
      this.#waiting.push({ seq, read: isMade ? () => this.#read(call, kind) : undefined });
    }
    return end && end.kind === 'returned';
  }

  async #read({ seq, name, json }: CodeCall, kind: 'read' | 'missing'): Promise<CodeResult> {
    const { calls, now } = this.#parts;
    const end =
      kind === 'missing' ? calls.missing(name) : await calls.preview(name, JSON.parse(json) as JsonObject);
    if (end === undefined) return { seq, now, kind: 'unknown' };
    if ('json' in end) return { seq, now, kind: 'value', json: end.json };
    return { seq, now, kind: 'error', message: end.error, code: end.code };
  }
}
