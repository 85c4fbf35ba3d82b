// The reasons behind the scores: tools that models mix up, tools that nobody calls, the cost of each definition, and proposals by rules.

import { wordsOf } from '../../tooling/lint/name-words.js';
import type { EvalReport, OfferedReport } from './report.js';

/** A tool that was called in place of another one. */
interface Confusion {
  /** The tool that was expected. */
  readonly expected: string;
  /** The tool that was called. */
  readonly chosen: string;
  /** The number of runs. */
  readonly times: number;
  /** The words that the names and descriptions of both have. */
  readonly shared: readonly string[];
}

/** The cost and the use of a tool. */
interface EvalToolUse {
  /** The name of the tool. */
  readonly name: string;
  /** The estimated tokens of its definition in each request. */
  readonly tokens: number;
  /** The number of calls in all runs. */
  readonly calls: number;
  /** Whether a case expects it. */
  readonly isExpected: boolean;
}

/** The reasons behind the scores of a report. */
export interface EvalExplanation {
  /** The tools that were mixed up, the most frequent first. */
  readonly confusions: readonly Confusion[];
  /** The cost and the use of each tool, the dearest first. */
  readonly tools: readonly EvalToolUse[];
  /** The tools that no case expects and no model called. */
  readonly dead: readonly string[];
  /** Proposals, in sentences. They come from rules, not from a model. */
  readonly proposals: readonly string[];
}

const MAX_PROPOSALS = 20;
const LEAST_WORDS = 4;
const LEAST_LETTERS = 4;
const EMPTY: readonly string[] = [];
/** Words that do not tell tools apart. */
const COMMON = new Set(
  'this that with from into when have been were will your their them they which one only then than also tool uses used using'.split(
    ' ',
  ),
);

/** Explains a report, with the runs of all models. */
export function explainReport(report: EvalReport): EvalExplanation {
  const confusions = confusionsIn(report);
  const tools = usesIn(report);
  const dead = tools.filter(({ calls, isExpected }) => calls === 0 && !isExpected).map(({ name }) => name);
  const proposals = [
    ...confusions.map((one) => ofConfusion(one)),
    ...ofWords(report, confusions),
    ...ofArguments(report),
    ...report.tools
      .filter(isTerse)
      .map(
        ({ name }) =>
          `The description of ${name} has fewer than ${LEAST_WORDS} words: say what it does, and when to use it.`,
      ),
    ...tools
      .filter(({ name }) => dead.includes(name))
      .map(
        ({ name, tokens }) =>
          `${name} costs ${tokens} tokens in each request, and nobody uses it: add a case for it, or remove it.`,
      ),
  ];
  return { confusions, tools, dead, proposals: [...new Set(proposals)].slice(0, MAX_PROPOSALS) };
}

function runsIn({ models }: EvalReport): readonly {
  ask: string;
  run: EvalReport['models'][number]['cases'][number]['runs'][number];
}[] {
  return models.flatMap(({ cases }) =>
    cases.flatMap(({ name, runs }) => runs.map((run) => ({ ask: name, run }))),
  );
}

function confusionsIn(report: EvalReport): readonly Confusion[] {
  const byName = new Map(report.tools.map((tool) => [tool.name, tool]));
  const counts = new Map<string, Confusion>();
  for (const { run } of runsIn(report))
    for (const { expected, chosen } of run.problems) {
      if (expected === undefined || chosen === undefined || expected === chosen) continue;
      const key = JSON.stringify([expected, chosen]);
      const known = counts.get(key) ?? {
        expected,
        chosen,
        times: 0,
        shared: shared(byName.get(expected), byName.get(chosen)),
      };
      counts.set(key, { ...known, times: known.times + 1 });
    }
  return [...counts.values()].sort((one, other) => other.times - one.times);
}

function shared(one: OfferedReport | undefined, other: OfferedReport | undefined): readonly string[] {
  if (one === undefined || other === undefined) return EMPTY;
  const words = wordsOfTool(other);
  return [...wordsOfTool(one)].filter((word) => words.has(word));
}

function wordsOfTool({ name, description }: OfferedReport): ReadonlySet<string> {
  return new Set([...wordsOf(name), ...wordsOfText(description)].filter(isTelling));
}

function wordsOfText(text: string): readonly string[] {
  return text
    .slice(0, 4000)
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
}

function isTelling(word: string): boolean {
  return word.length >= LEAST_LETTERS && !COMMON.has(word);
}

function ofConfusion({ expected, chosen, times, shared: words }: Confusion): string {
  const both =
    words.length === 0
      ? ''
      : ` Both say ${words
          .slice(0, 6)
          .map((word) => JSON.stringify(word))
          .join(', ')}.`;
  return `${chosen} was called ${times} ${times === 1 ? 'time' : 'times'} in place of ${expected}.${both} Say in each description when to use the other one.`;
}

/** Words of users that only the wrong tool has. */
function* ofWords(report: EvalReport, confusions: readonly Confusion[]): Generator<string> {
  const byName = new Map(report.tools.map((tool) => [tool.name, tool]));
  for (const { ask, run } of runsIn(report))
    for (const { expected = '', chosen = '' } of run.problems) {
      const [right, wrong] = [byName.get(expected), byName.get(chosen)];
      if (!right || !wrong || !confusions.some((one) => one.expected === expected && one.chosen === chosen))
        continue;
      const [own, others] = [wordsOfTool(right), wordsOfTool(wrong)];
      const word = wordsOfText(ask).find((one) => isTelling(one) && others.has(one) && !own.has(one));
      if (word !== undefined)
        yield `Users say ${JSON.stringify(word)}, which ${chosen} has and ${expected} does not: add it to ${expected}.`;
    }
}

function* ofArguments(report: EvalReport): Generator<string> {
  const counts = new Map<string, number>();
  for (const { run } of runsIn(report))
    for (const { kind, expected } of run.problems)
      if (kind === 'arguments' && expected !== undefined)
        counts.set(expected, (counts.get(expected) ?? 0) + 1);
  for (const [name, times] of counts)
    yield `The arguments of ${name} were wrong ${times} ${times === 1 ? 'time' : 'times'}: describe each field, with its unit and an example.`;
}

function isTerse({ description }: OfferedReport): boolean {
  return wordsOfText(description).filter((word) => word !== '').length < LEAST_WORDS;
}

function usesIn(report: EvalReport): readonly EvalToolUse[] {
  const calls = new Map<string, number>();
  for (const { run } of runsIn(report))
    for (const { tool } of run.calls) calls.set(tool, (calls.get(tool) ?? 0) + 1);
  const expected = new Set(report.models.flatMap(({ cases }) => cases.flatMap((one) => one.expected)));
  return report.tools
    .map(({ name, tokens }) => ({
      name,
      tokens,
      calls: calls.get(name) ?? 0,
      isExpected: expected.has(name),
    }))
    .sort((one, other) => other.tokens - one.tokens);
}
