// Whether a recorded run is still the one that a model would be asked for today, and if not, what differs.

import { SEARCH_TOOL } from '../../protocol/model/search/search-tools.js';
import type { ReadCase } from '../cases/case.js';
import { callsOf, type MadeCall } from '../cases/transcript.js';
import type { AskedParts, OfferedTool, TapedRun } from './tape.js';

/**
 * The state of a recorded run: `fresh` if every request would be the same, `touched` if only the definitions of tools differ that the case has
 * nothing to do with, `stale` otherwise.
 */
export interface Freshness {
  readonly state: 'fresh' | 'touched' | 'stale';
  /** The parts that differ, in words. */
  readonly because: readonly string[];
}

/** Compares a recorded run with today's parts. `foundNow` has the digests that the searches of the run have today, by their calls. */
export function freshnessOf(
  run: TapedRun,
  now: AskedParts,
  one: ReadCase,
  foundNow: (call: MadeCall) => string | undefined,
): Freshness {
  const changed = changedTools(run.offer, now.offer);
  const own = ownTools(run, one);
  const stale = [
    ...(run.ask === now.ask ? [] : ['the case']),
    ...(run.system === now.system ? [] : ['the system prompt or the instructions of the server']),
    ...(run.settings === now.settings ? [] : ['the settings of the model']),
    ...changed.filter(({ name }) => own.has(name)).map(({ says }) => says),
    ...(searchesOf(run).every((call) => foundNow(call) === call.found)
      ? []
      : [`the results of ${SEARCH_TOOL}`]),
  ];
  if (stale.length > 0) return { state: 'stale', because: stale };
  const touched = [
    ...changed.map(({ says }) => says),
    ...(changed.length === 0 && !isSameOrder(run.offer, now.offer) ? ['the order of the tools'] : []),
  ];
  return touched.length > 0 ? { state: 'touched', because: touched } : { state: 'fresh', because: [] };
}

/** The searches of a run, whose results are a part of the next request. */
export function searchesOf(run: TapedRun): readonly MadeCall[] {
  return callsOf(run).filter(({ found }) => found !== undefined);
}

/** The tools that a case expects or forbids, or that the model called. */
function ownTools(run: TapedRun, { calls = [], not = [] }: ReadCase): ReadonlySet<string> {
  return new Set([...calls.map(({ tool }) => tool), ...not, ...callsOf(run).map(({ tool }) => tool)]);
}

interface ChangedTool {
  readonly name: string;
  readonly says: string;
}

function changedTools(before: readonly OfferedTool[], after: readonly OfferedTool[]): readonly ChangedTool[] {
  const [was, is] = [new Map(before), new Map(after)];
  const names = new Set([...was.keys(), ...is.keys()]);
  return [...names].flatMap((name) => {
    if (was.get(name) === is.get(name)) return [];
    const word = !was.has(name) ? 'is new' : is.has(name) ? 'changed' : 'is gone';
    return [{ name, says: `${name} ${word}` }];
  });
}

function isSameOrder(before: readonly OfferedTool[], after: readonly OfferedTool[]): boolean {
  return before.length === after.length && before.every(([name], at) => after[at]?.[0] === name);
}
