// Judges a conversation by its case. A pure function of both, so that a changed expectation needs no new request.

import { tryParseObject } from '../../jsonrpc/try-parse.js';
import { SEARCH_TOOL } from '../../protocol/model/search/search-tools.js';
import { cleanLine } from '../../tooling/clean.js';
import type { ExpectedToolCall, ReadCase } from './case.js';
import { matches, misfitOf } from './matching.js';
import { answerOf, callsOf, type EvalTranscript, type MadeCall } from './transcript.js';

/** A mistake of a model, or of the definitions that it read. */
export interface EvalProblem {
  /** The kind of the mistake. */
  readonly kind:
    | 'tool'
    | 'order'
    | 'arguments'
    | 'forbidden'
    | 'unknown-tool'
    | 'malformed'
    | 'question'
    | 'answer'
    | 'judge'
    | 'end';
  /** One sentence about it. */
  readonly says: string;
  /** The tool that was expected, if one was. */
  readonly expected?: string;
  /** The tool that was called in its place. */
  readonly chosen?: string;
}

const MAX_SHOWN = 160;

/** All mistakes in a conversation; none if it is as expected. */
export async function problemsOf(one: ReadCase, transcript: EvalTranscript): Promise<readonly EvalProblem[]> {
  const made = callsOf(transcript).filter(({ tool }) => tool !== SEARCH_TOOL);
  return [
    ...(await ofCalls(one, made)),
    ...ofForbidden(one, made),
    ...made.flatMap(ofBrokenCall),
    ...ofQuestions(one, transcript),
    ...ofAnswer(one, transcript),
    ...ofEnd(transcript),
  ];
}

async function ofCalls(one: ReadCase, made: readonly MadeCall[]): Promise<readonly EvalProblem[]> {
  const { calls: expected, anyOrder = false } = one;
  if (expected === undefined) return [];
  const [first] = made;
  if (expected.length === 0 && first !== undefined)
    return [
      {
        kind: 'tool',
        says: `${cleanLine(first.tool, 100)} was called, and no call was expected.`,
        chosen: first.tool,
      },
    ];
  const problems: EvalProblem[] = [];
  const used = new Set<number>();
  let from = 0;
  for (const wanted of expected) {
    const fitting = await fittingCalls(wanted, made, used);
    const at = fitting.find((index) => anyOrder || index >= from);
    if (at === undefined) problems.push(await missing(wanted, { made, used, fitting, expected }));
    else {
      used.add(at);
      from = at + 1;
    }
  }
  return problems;
}

/** The places of the calls that fit an expected one, and that no other has taken. */
async function fittingCalls(
  wanted: ExpectedToolCall,
  made: readonly MadeCall[],
  used: ReadonlySet<number>,
): Promise<readonly number[]> {
  const found: number[] = [];
  for (const [at, { tool, args, refused }] of made.entries()) {
    if (used.has(at) || tool !== wanted.tool || args === undefined || refused !== undefined) continue;
    if ((await misfitOf(wanted, args)) === undefined) found.push(at);
  }
  return found;
}

interface Missing {
  readonly made: readonly MadeCall[];
  readonly used: ReadonlySet<number>;
  readonly fitting: readonly number[];
  readonly expected: readonly ExpectedToolCall[];
}

async function missing(
  wanted: ExpectedToolCall,
  { made, used, fitting, expected }: Missing,
): Promise<EvalProblem> {
  const { tool } = wanted;
  if (fitting.length > 0)
    return { kind: 'order', says: `${tool} was called, but too early.`, expected: tool };
  const near = made.find((one, at) => one.tool === tool && one.args !== undefined && !used.has(at));
  const misfit = near?.args && (await misfitOf(wanted, near.args));
  if (misfit) return { kind: 'arguments', says: `${tool}: ${misfit}`, expected: tool };
  const names = new Set(expected.map((one) => one.tool));
  const chosen = made.find((one) => !names.has(one.tool) && one.refused !== 'unknown')?.tool;
  const instead =
    made.length === 0
      ? 'the model called nothing'
      : `the model called ${cleanLine(made.map((one) => one.tool).join(', '), MAX_SHOWN)}`;
  return {
    kind: 'tool',
    says: `${tool} was not called${used.size > 0 && chosen === undefined ? ' as often as expected' : ''}; ${instead}.`,
    expected: tool,
    ...(chosen !== undefined && { chosen }),
  };
}

function ofForbidden({ not = [] }: ReadCase, made: readonly MadeCall[]): readonly EvalProblem[] {
  const called = new Set(made.map(({ tool }) => tool));
  return not
    .filter((tool) => called.has(tool))
    .map((tool) => ({
      kind: 'forbidden',
      says: `${tool} was called, which the case forbids.`,
      chosen: tool,
    }));
}

function ofBrokenCall({ tool, refused, written = '' }: MadeCall): readonly EvalProblem[] {
  const name = cleanLine(tool, 100) || 'A tool without a name';
  switch (refused) {
    case 'unknown':
      return [{ kind: 'unknown-tool', says: `${name} was called, which was not offered.` }];
    case 'malformed':
      return [
        {
          kind: 'malformed',
          says: `The arguments of ${name} are not a JSON object: ${cleanLine(written, MAX_SHOWN)}`,
        },
      ];
    default:
      return [];
  }
}

function ofQuestions({ asks = {} }: ReadCase, transcript: EvalTranscript): readonly EvalProblem[] {
  const { asked, unanswered } = transcript;
  return [
    ...unanswered.map(
      (question): EvalProblem => ({
        kind: 'question',
        says: `The server asked ${cleanLine(question, MAX_SHOWN)}, and "asks" has no answer that fits.`,
      }),
    ),
    ...Object.keys(asks)
      .filter((key) => !asked.includes(key))
      .map(
        (key): EvalProblem => ({
          kind: 'question',
          says: `The question ${JSON.stringify(cleanLine(key, 60))} was not asked.`,
        }),
      ),
  ];
}

function ofAnswer({ answer, judge }: ReadCase, transcript: EvalTranscript): readonly EvalProblem[] {
  const text = answerOf(transcript);
  const { judged } = transcript;
  const shown = JSON.stringify(cleanLine(text, MAX_SHOWN));
  const problems: EvalProblem[] = [];
  if (answer !== undefined && !isAnswer(answer, text))
    problems.push({
      kind: 'answer',
      says: `The answer is ${shown}, ${typeof answer === 'function' ? 'which the function of the case rejects' : `without ${cleanLine(String(answer), MAX_SHOWN)}`}.`,
    });
  if (judge !== undefined && judged?.passed === false)
    problems.push({ kind: 'judge', says: `The judge says: ${cleanLine(judged.why, 300)}` });
  return problems;
}

function isAnswer(answer: NonNullable<ReadCase['answer']>, text: string): boolean {
  if (typeof answer === 'string') return text.includes(answer);
  return typeof answer === 'function' ? answer(text) : matches(answer, text);
}

const ENDS: Readonly<Record<Exclude<EvalTranscript['ended'], 'answer'>, string>> = {
  length:
    'The reply of the model was cut off, because it has too many tokens. Raise "maxTokens" of the model.',
  refused: 'The model refused to answer.',
  other: 'The model stopped for a reason that is not known here.',
  rounds: 'The model made calls without end.',
  loop: 'The model repeated the same call without end.',
};

function ofEnd(transcript: EvalTranscript): readonly EvalProblem[] {
  const { ended } = transcript;
  if (ended !== 'answer') return [{ kind: 'end', says: ENDS[ended] }];
  const text = answerOf(transcript);
  return isCallAsText(text)
    ? [{ kind: 'malformed', says: `The model wrote a call into its answer: ${cleanLine(text, MAX_SHOWN)}` }]
    : [];
}

/** Whether an answer is a call that the program in front of the model did not recognize, as happens with local models. */
function isCallAsText(text: string): boolean {
  const start = text.trim().slice(0, 5000);
  if (/^(?:<tool_call>|<function[=_]|\[TOOL_CALLS\]|<\|python_tag\|>)/.test(start)) return true;
  const value = tryParseObject(start.replace(/^```(?:json)?\s*/, '').replace(/\s*```$/, ''));
  return (
    typeof value?.['name'] === 'string' &&
    (value['arguments'] !== undefined || value['parameters'] !== undefined)
  );
}
