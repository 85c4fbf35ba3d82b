// The calls of a program, as a client gets to know them that has asked for them: an inspector, which shows them to the developer.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { PROGRAM_CALLS } from '../../protocol/tables/meta-keys.js';
import { toToolResult } from '../results/results.js';
import type { ToolResult } from '../results/tool-result.js';
import type { CallEnd } from './outcome-value.js';
import type { ProgramCall } from './report.js';

/** The characters of the arguments, the result or the error of a call. */
const MAX_VALUE = 300;
/** The latest calls are with each progress: a client that polls a task sees only some of it. */
const MAX_LATEST = 16;
/** The characters of all calls in the result of a program, which has the latest ones. */
const MAX_ALL = 32_000;

/** The calls for the client; undefined if it has not asked for them. Values of a program are not for clients that have not. */
export function toldCalls({ params: { _meta } }: Call): ToldCalls | undefined {
  return isObject(_meta) && _meta[PROGRAM_CALLS] === true ? new ToldCalls() : undefined;
}

/** The calls of one run, with what is known about them. */
export class ToldCalls {
  readonly #begun = new Map<number, number>();
  readonly #ended = new Map<number, JsonObject>();

  /** A call begins, or continues after a question, in this run. */
  begin({ seq }: Pick<ProgramCall, 'seq'>): void {
    if (!this.#begun.has(seq)) this.#begun.set(seq, Date.now());
  }

  /** The `_meta` of the progress with which a program gets a result. */
  end(call: ProgramCall, end: CallEnd & { readonly at?: number }): JsonObject {
    const begun = this.#begun.get(call.seq);
    const told = {
      ...factsOf(call),
      ...('error' in end
        ? { error: shorten(end.error, MAX_VALUE) }
        : { result: shorten(end.json, MAX_VALUE) }),
      // A call that an earlier run has made has its time from that run.
      ...(begun !== undefined && end.at !== undefined && { ms: Math.max(0, end.at - begun) }),
    };
    this.#ended.set(call.seq, told);
    return { [PROGRAM_CALLS]: [...this.#ended.values()].slice(-MAX_LATEST) };
  }

  /** The result of a program, with its calls. */
  withCalls(report: ToolResult | object, made: readonly ProgramCall[]): ToolResult {
    const told: JsonObject[] = [];
    let room = MAX_ALL;
    for (const call of made.toReversed()) {
      const facts = this.#ended.get(call.seq) ?? factsOf(call);
      room -= JSON.stringify(facts).length;
      if (room < 0) break;
      told.unshift(facts);
    }
    return { ...toToolResult(report), _meta: { [PROGRAM_CALLS]: told } };
  }
}

function factsOf({ seq, name, json, state, line, isApproved }: ProgramCall): JsonObject {
  return {
    ...{ seq, tool: name, arguments: shorten(json, MAX_VALUE), state },
    ...(line !== undefined && { line }),
    ...(isApproved === true && { approved: true }),
  };
}
