// The calls of a program that a model has written, as its server tells them: with the progress of `run_code`, and with its result.

import { BoundedMap } from '../../async/bounded-map.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { CODE_TOOL } from '../../protocol/code/code-options.js';
import { PROGRAM_CALLS } from '../../protocol/tables/meta-keys.js';
import { cleanLine } from '../../tooling/clean.js';
import type { ProgramCallView, ProgramView } from '../contract/story.js';

/** The latest calls of a program that are kept. */
const MAX_CALLS = 300;
const MAX_VALUE = 400;
const STATES = ['waiting', 'done', 'failed'] as const satisfies readonly ProgramCallView['state'][];

/** Replaces the secrets of a connection in a string. */
type Mask = (text: string) => string;

/** The `_meta` of a call: it asks for the calls of a program. Undefined for other tools. */
export function programMeta(method: string, tool: string): JsonObject | undefined {
  return method === 'tools/call' && tool === CODE_TOOL ? { [PROGRAM_CALLS]: true } : undefined;
}

/** The calls of one run of a program. */
export class ToldProgram {
  readonly #calls = new BoundedMap<number, ProgramCallView>(MAX_CALLS);
  #isTold = false;

  /** Takes the calls in the progress or the result of a call of `run_code`. */
  take({ _meta }: JsonObject, mask: Mask): void {
    const told = isObject(_meta) ? _meta[PROGRAM_CALLS] : undefined;
    if (!Array.isArray(told)) return;
    this.#isTold = true;
    for (const each of told.slice(-MAX_CALLS)) {
      const call = isObject(each) ? readCall(each, mask) : undefined;
      // The result of a program that has asked lacks the times of the calls before its questions.
      if (call !== undefined) this.#calls.set(call.seq, { ...this.#calls.get(call.seq), ...call });
    }
  }

  get view(): ProgramView {
    const calls = [...this.#calls.values()].sort((one, other) => one.seq - other.seq);
    return { isTold: this.#isTold, calls };
  }
}

function readCall(told: JsonObject, mask: Mask): ProgramCallView | undefined {
  const { seq, tool, line, ms } = told;
  const state = STATES.find((each) => each === told['state']);
  if (!isCount(seq) || typeof tool !== 'string' || state === undefined) return undefined;
  const text = (name: string): string | undefined => {
    const value = told[name];
    return typeof value === 'string' ? cleanLine(mask(value.slice(0, 4 * MAX_VALUE)), MAX_VALUE) : undefined;
  };
  const [result, error] = [text('result'), text('error')];
  return {
    ...{ seq, tool: cleanLine(tool, 130), args: text('arguments') ?? '{}', state },
    ...(isCount(line) && { line }),
    ...(typeof ms === 'number' && ms >= 0 && { ms }),
    ...(result !== undefined && { result }),
    ...(error !== undefined && { error }),
    ...(told['approved'] === true && { isApproved: true }),
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
