// The question for the person who approves what a program changes.

import type { CodeCall } from '../../protocol/code/code-engine.js';
import { show, showText } from '../policy/show.js';
import type { Ahead } from './look-ahead.js';

/** The tools and the calls that are shown. */
const MAX_TOOLS = 20;
const MAX_CALLS = 30;
/** The number of characters for the arguments of all calls together, and of one. */
const MAX_CHARACTERS = 4000;
const MAX_ARGUMENTS = 400;
const MAX_NAME = 130;

/**
 * The question: how many calls of which tools, and then each call with its arguments. A model has written these, so each stays on its line,
 * indented, as the arguments of a call that a policy asks about.
 */
export function planText({ calls, isComplete }: Ahead): string {
  const shown = calls.slice(0, MAX_CALLS);
  const limit = Math.min(MAX_ARGUMENTS, Math.floor(MAX_CHARACTERS / shown.length));
  const lines = shown.map((call) => lineOf(call, limit));
  const hidden = calls.length - shown.length;
  const isCut = hidden > 0 || lines.some((line) => line.isCut);
  return [
    calls.length === 1
      ? 'Do you approve this call that a program makes?'
      : `Do you approve these ${calls.length} calls that a program makes?`,
    ...(isCut ? ['Some of them are too many or too long to be shown in full. You approve all of them.'] : []),
    ...(isComplete ? [] : ['The program may need more calls. You are asked again before those.']),
    '',
    ...(calls.length === 1 ? [] : [...countsOf(calls), '']),
    ...lines.map(({ text }) => `    ${text}`),
    ...(hidden > 0 ? [`    (${hidden} more calls)`] : []),
  ].join('\n');
}

function countsOf(calls: readonly CodeCall[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { name } of calls) counts.set(name, (counts.get(name) ?? 0) + 1);
  const lines = [...counts].map(([name, count]) => `    ${count} × ${showText(name, MAX_NAME)}`);
  const hidden = lines.length - MAX_TOOLS;
  return hidden > 0 ? [...lines.slice(0, MAX_TOOLS), `    (${hidden} more tools)`] : lines;
}

function lineOf(
  { seq, name, json }: CodeCall,
  limit: number,
): { readonly text: string; readonly isCut: boolean } {
  const { text, isCut } = show(JSON.parse(json), limit);
  return { text: `${seq}. ${showText(name, MAX_NAME)}(${text})`, isCut };
}
