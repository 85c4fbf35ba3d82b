// The report to a model about the end of its program.

import type { CodeCall, CodeEnd } from '../../protocol/code/code-engine.js';
import { toolFailure } from '../results/results.js';
import type { ToolResult } from '../results/tool-result.js';

/** A call that the program has made. */
export interface ProgramCall extends CodeCall {
  state: 'waiting' | 'done' | 'failed';
  /** Whether a person has approved it. */
  isApproved?: boolean;
}

/** A program that has ended. */
export interface EndedRun {
  readonly end: CodeEnd;
  readonly made: readonly ProgramCall[];
  readonly printed: readonly string[];
}

const MAX_RESULT = 24_000;
const MAX_PRINTED = 8000;
const MAX_LISTED = 40;
const MAX_ARGUMENTS = 100;

/** The result of `run_code`: the value, or what went wrong and where, with the calls that were made. */
export function reportOf(source: string, { end, made, printed }: EndedRun): ToolResult | object {
  const lines = printedText(printed);
  if (end.kind === 'returned')
    return { result: resultOf(end.json), ...(lines !== '' && { printed: lines }), calls: made.length };
  const parts = [
    problemOf(source, end),
    callsText(made),
    ...(lines === '' ? [] : [`The program printed:\n${lines}`]),
  ];
  return toolFailure(parts.join('\n\n'));
}

function resultOf(json: string): unknown {
  if (json.length <= MAX_RESULT) return JSON.parse(json);
  return `${json.slice(0, MAX_RESULT)}… (cut off: the value has ${json.length} characters of JSON, at most ${MAX_RESULT} are shown. Return less.)`;
}

function printedText(printed: readonly string[]): string {
  const text = printed.join('\n');
  return text.length <= MAX_PRINTED
    ? text
    : `${text.slice(0, MAX_PRINTED)}… (cut off: at most ${MAX_PRINTED} characters are shown)`;
}

function problemOf(source: string, end: Exclude<CodeEnd, { kind: 'returned' }>): string {
  if (end.kind === 'limit') return end.message;
  if (end.kind === 'unknown') return 'The program used the result of a call that was not made.';
  const { name, message, line } = end;
  const text = `${name}: ${message}`;
  if (line === undefined) return text;
  const code = source.split('\n')[line - 1]?.trim().slice(0, 200);
  return `Line ${line}: ${text}${code ? `\n    ${code}` : ''}`;
}

/** A model that does not know what was done would do it again. */
function callsText(made: readonly ProgramCall[]): string {
  if (made.length === 0) return 'The program made no call.';
  const shown = made
    .slice(-MAX_LISTED)
    .map(({ seq, name, json, state }) => `${seq}. ${name}(${shorten(json)}) ${words[state]}`);
  const hidden = made.length - shown.length;
  return [
    'The calls of the program; do not repeat those that changed something:',
    ...(hidden > 0 ? [`(${hidden} earlier calls)`] : []),
    ...shown,
  ].join('\n');
}

const words = { done: 'succeeded', failed: 'failed', waiting: 'did not end, or did not begin' } as const;

function shorten(json: string): string {
  return json.length <= MAX_ARGUMENTS ? json : `${json.slice(0, MAX_ARGUMENTS)}…`;
}
