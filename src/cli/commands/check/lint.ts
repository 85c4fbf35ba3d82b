import { resolve } from 'node:path';
import { TAPE_FOLDERS } from '../../../evals/tape/tape-folder.js';
import type { RecordedScore } from '../../../evals/tape/tool-scores.js';
import { cleanLine } from '../../../tooling/clean.js';
import { HOST_NAMES, type HostName } from '../../../tooling/lint/host-profiles.js';
import { HOST_RULES } from '../../../tooling/lint/host-rules.js';
import { type Linted, lintManifest } from '../../../tooling/lint/lint-manifest.js';
import { RULES, type Severity } from '../../../tooling/lint/rules.js';
import { HOW_ESTIMATED } from '../../../tooling/lint/tokens.js';
import type { Command, Typed } from '../../command/definition.js';
import { EXIT, FoundError, ReportedError } from '../../command/failures.js';
import { wholeNumber } from '../../command/parse.js';
import { loadManifest } from '../../manifest/load-manifest.js';
import { printFindings } from '../../results/print-findings.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import type { Output } from '../../terminal/output.js';
import { wrapLine } from '../../terminal/wrap.js';

/** `fullmcp lint`. */
export const lint: Command = {
  usage: '<target or manifest>',
  details: `Checks names, descriptions, hints, the portability of schemas across OpenAI, Anthropic and Gemini, tools that a model may mix up, and\nthe tokens that the tools cost. Tokens are an estimate: ${HOW_ESTIMATED}.\n\nWith --for, also checks what a host demands or drops. Each such finding has its source, with a date.\n\nIf the folder has tapes of fullmcp eval, the last recorded score of each tool is shown: the runs that passed of the cases that expect it.`,
  words: [1, 1],
  options: {
    ...TARGET_OPTIONS,
    for: {
      type: 'string',
      multiple: true,
      value: 'host',
      choices: HOST_NAMES,
      help: 'a host whose own rules are checked as well; can be given several times',
    },
    'max-tokens': {
      type: 'string',
      value: 'n',
      help: 'the most tokens that all tools may have together; more is an error',
    },
    ignore: {
      type: 'string',
      multiple: true,
      value: 'rule',
      choices: [...Object.keys(RULES), ...Object.keys(HOST_RULES)],
      help: 'a rule that is left out; can be given several times',
    },
    'fail-on': {
      type: 'string',
      choices: ['error', 'warning', 'never'],
      help: 'the findings that lead to exit code 1; default: error',
    },
  },
  examples: [
    {
      line: 'fullmcp lint ./server.ts',
      says: 'Each finding with the vendors it concerns, and with its fix.',
    },
    {
      line: 'fullmcp lint http://localhost:3000/mcp --max-tokens 4000 --fail-on warning',
      says: 'A budget, and a strict check for CI.',
    },
    {
      line: 'fullmcp lint ./server.ts --for chatgpt --for claude',
      says: 'Before the server is submitted to two directories.',
    },
  ],
  json: '{ ok: boolean, errors: number, warnings: number, advice: number, tokens: { total: number, how: string, tools: { name: string, tokens: number }[] }, findings: { rule: string, severity: "error" | "warning" | "advice", kind: string, name: string, path?: string, vendors: string[], says: string, fix: string, source?: string }[], scores: { tool: string, model: string, passed: number, of: number, day: string, isChanged: boolean }[] }; ok is false if the exit code is 1',
  run: async (input) => {
    const maxTokens = wholeNumber(input, 'max-tokens', [1, 100_000_000]);
    const manifest = await loadManifest(input.words[0], input);
    const linted = lintManifest(manifest, {
      ...{ ignore: new Set(input.texts('ignore')), maxTokens },
      hosts: input.texts('for') as readonly HostName[],
    });
    const { recordedScores } = await import('../../../evals/tape/tool-scores.js');
    const folders = TAPE_FOLDERS.map((folder) => resolve(folder));
    const scores = await recordedScores(folders, manifest.tools);
    const answer = answerOf(linted, { input, scores });
    const { errors, warnings, advice } = answer;
    const summary = `${counted(errors, 'error')}, ${counted(warnings, 'warning')}, ${advice} to consider · ${counted(manifest.tools.length, 'tool')}, about ${linted.total} tokens`;
    if (input.out.isPipedOnTerminal) return summaryFirst(summary, { linted, answer, input, scores });
    printFindings(linted.findings, input.out);
    printScores(scores, input.out);
    if (!answer.ok) throw new FoundError(summary, answer);
    input.out.json(answer);
    if (!input.out.isJson) input.out.note(summary);
  },
};

interface Summed {
  readonly linted: Linted;
  readonly answer: Answer;
  readonly input: Typed;
  readonly scores: readonly RecordedScore[];
}

function summaryFirst(summary: string, { linted, answer, input: { out }, scores }: Summed): void {
  if (answer.ok) out.note(summary);
  else out.failure(summary, answer);
  printFindings(linted.findings, out);
  printScores(scores, out);
  if (!answer.ok) throw new ReportedError(EXIT.failed);
}

interface Answer {
  readonly ok: boolean;
  readonly errors: number;
  readonly warnings: number;
  readonly advice: number;
}

/** The scores of tools with models, as they are on the tapes of the project. */
function printScores(scores: readonly RecordedScore[], out: Output): void {
  if (scores.length > 0) out.styled(out.style('bold', '  last recorded scores of evals'));
  for (const { tool, model, passed, of, day, isChanged } of scores) {
    const since = isChanged ? '; its definition has changed since' : '';
    const colour = passed === of && !isChanged ? 'green' : 'yellow';
    const line = `  ${out.style(colour, `${passed} of ${of}`.padEnd(8))} ${cleanLine(tool, 128)}  ${out.style('dim', `${cleanLine(model, 100)}, ${cleanLine(day, 20)}${since}`)}`;
    out.styled(wrapLine(line, out.width, ' '.repeat(11)));
  }
}

function answerOf(
  { findings, tokens, total }: Linted,
  { input, scores }: { readonly input: Typed; readonly scores: readonly RecordedScore[] },
): Answer {
  const count = (severity: Severity): number => findings.filter((one) => one.severity === severity).length;
  const [errors, warnings] = [count('error'), count('warning')];
  const failOn = input.text('fail-on') ?? 'error';
  const isFailed = failOn !== 'never' && (errors > 0 || (failOn === 'warning' && warnings > 0));
  const tools = [...tokens].map(([name, number]) => ({ name, tokens: number }));
  const counts = { errors, warnings, advice: count('advice') };
  return { ok: !isFailed, ...counts, ...{ tokens: { total, how: HOW_ESTIMATED, tools }, findings, scores } };
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
