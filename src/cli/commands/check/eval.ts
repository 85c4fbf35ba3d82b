import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import process from 'node:process';
import type { EvalCase } from '../../../evals/cases/case.js';
import { CASE_FILE } from '../../../evals/cases/case-file.js';
import type { Evals } from '../../../evals/evals.js';
import type { ModelComparison } from '../../../evals/report/compare.js';
import type { EvalExplanation } from '../../../evals/report/explain.js';
import type { CaseReport, EvalReport, ModelPlan, ModelReport } from '../../../evals/report/report.js';
import type { EvalRunOptions } from '../../../evals/run/options.js';
import type { EvalSource } from '../../../evals/run/server.js';
import { EVAL_FILES, tapesBeside } from '../../../evals/tape/tape-folder.js';
import { tryParse } from '../../../jsonrpc/try-parse.js';
import { cleanLine, shellWord } from '../../../tooling/clean.js';
import type { Command, Typed } from '../../command/definition.js';
import { CommandError, FoundError, usageError } from '../../command/failures.js';
import { duration, wholeNumber } from '../../command/parse.js';
import { type JUnitCase, junitText } from '../../results/junit.js';
import { saveReport } from '../../results/save-report.js';
import type { Output } from '../../terminal/output.js';
import { wrapLine } from '../../terminal/wrap.js';
import { loadFailure } from '../project/serving/load-failure.js';
import { loadModule } from '../project/serving/load-module.js';

/** `fullmcp eval`. */
export const evalCommand: Command = {
  usage: '[file] [target]',
  details:
    'Shows whether models choose the right tools of a server, with the right arguments. The file exports what `evals` of fullmcp/evals returns,\nor is evals.chat.json, in which the chat of the inspector saves cases. A target is only for such a file, if it names none itself.\n\nWithout --record, no model is asked: the recorded answers come from the tapes beside the file, and no key is needed. A case whose request\nwould be another one today is stale, and one where only tools differ that it has nothing to do with is touched. Exits with 1 if a case fails\nor is stale.\n\n--record asks the models about all cases that are not fresh, and writes the tapes. Keys come from the environment: ANTHROPIC_API_KEY,\nOPENAI_API_KEY, or the variable that the file names. The models make real calls to the server: use one for tests.',
  words: [0, 2],
  options: {
    record: { type: 'boolean', help: 'ask the models about the cases that are not fresh, and record them' },
    dry: { type: 'boolean', help: 'with --record: say what it would take, and ask no model' },
    again: { type: 'boolean', help: 'with --record: record fresh cases, too' },
    model: {
      type: 'string',
      multiple: true,
      value: 'name',
      help: 'a model of the file, or one such as openai-chat:llama3@http://localhost:11434',
    },
    only: { type: 'string', multiple: true, value: 'case', help: 'one case; can be given several times' },
    runs: { type: 'string', value: 'n', help: 'the number of runs of each case' },
    strict: { type: 'boolean', help: 'let touched cases fail, too' },
    'max-tokens': { type: 'string', value: 'n', help: 'the most tokens to use, in all' },
    'max-cost': { type: 'string', value: 'n', help: 'the most money to use, in the currency of the prices' },
    'max-time': { type: 'string', value: 'time', help: 'the longest time, such as 90s or 10m' },
    tapes: { type: 'string', value: 'folder', help: 'the folder of the tapes; default: beside the file' },
    explain: {
      type: 'boolean',
      help: 'show tools that are mixed up or not used, the cost of each, and proposals',
    },
    compare: {
      type: 'string',
      value: 'before.json',
      help: 'show whether it is worse than an earlier output of --json; exits with 1 if it is',
    },
    junit: { type: 'string', value: 'file', help: 'write a JUnit report, for CI' },
    html: { type: 'string', value: 'file', help: 'write a report for people, as one page' },
  },
  examples: [
    { line: 'fullmcp eval', says: 'Replays the tapes beside evals.ts. For CI.' },
    {
      line: 'fullmcp eval --record --model anthropic:claude-sonnet-4-5 --max-tokens 500000',
      says: 'Asks a model, and records its answers.',
    },
    {
      line: 'fullmcp eval --record --dry --model anthropic:claude-sonnet-4-5',
      says: 'Says how many requests and tokens that would take. No key is needed.',
    },
    {
      line: 'fullmcp eval --record --model openai-chat:qwen3@http://localhost:11434 --html report.html',
      says: 'A model on this computer, which needs no key.',
    },
    {
      line: 'fullmcp eval --json > before.json',
      says: 'Keeps the scores. After a change and a new recording: fullmcp eval --compare before.json',
    },
  ],
  json: '{ ok: boolean, mode: "recorded" | "replayed" | "planned", models: { name: string, model: string, score: { share: number, low: number, high: number }, cases: { name: string, state: string, because: string[], ok: boolean, passed: number, of: number, runs: object[] }[], usage: object, cost?: number, medianMs: number, notes: string[] }[], tools: { name: string, tokens: number }[], spent: { tokens: number, cost?: number }, plan?: { name: string, conversations: number, requests: [number, number], tokens: [number, number], cost?: [number, number] }[], explanation?: object, comparison?: object[] }; EvalReport of fullmcp/evals has all fields',
  run: evalFile,
};

async function evalFile(input: Typed): Promise<void> {
  const { out } = input;
  const file = fileOf(input);
  if (input.words.length > 1 && extname(file) !== '.json')
    throw usageError(`${file} has its server in itself. A target is for a file such as ${CASE_FILE}.`);
  const suite = extname(file) === '.json' ? await savedSuite(file, input) : await loadSuite(file);
  const tapes = input.text('tapes') ?? tapesBeside(file);
  const report = await suite.run(runOptions(input, tapes)).catch((error: unknown) => {
    throw error instanceof TypeError ? usageError(error.message) : error;
  });
  out.redraw('');
  if (report.plan !== undefined) return printPlan(report, report.plan, out);
  for (const model of report.models) printModel(model, out);
  const more = await moreAbout(report, input);
  await saveReports(input, { file, report });
  const summary = summaryOf(report, { file, input });
  const isWorse = more.comparison?.some(({ verdict }) => verdict === 'worse') ?? false;
  const answer = { ...report, ...more, ok: report.ok && !isWorse };
  if (!answer.ok)
    throw input.signal.aborted ? new CommandError('interrupted', summary) : new FoundError(summary, answer);
  out.json(answer);
  if (!out.isJson) out.note(summary);
}

interface MoreAbout {
  readonly explanation?: EvalExplanation;
  readonly comparison?: readonly ModelComparison[];
}

/** The parts that were asked for besides the report. */
async function moreAbout(report: EvalReport, input: Typed): Promise<MoreAbout> {
  const { out } = input;
  const before = input.text('compare');
  const explanation = input.flag('explain')
    ? (await import('../../../evals/report/explain.js')).explainReport(report)
    : undefined;
  const comparison = before === undefined ? undefined : await compareWith(before, report);
  if (explanation !== undefined) printExplanation(explanation, out);
  for (const one of comparison ?? []) printComparison(one, out);
  return { ...(explanation && { explanation }), ...(comparison && { comparison }) };
}

async function compareWith(path: string, report: EvalReport): Promise<readonly ModelComparison[]> {
  const { compareReports, isEvalReport } = await import('../../../evals/report/compare.js');
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw usageError(`The file ${path} cannot be read: ${error.message}.`);
  });
  const before = tryParse(text);
  if (!isEvalReport(before)) throw usageError(`${path} is not an output of fullmcp eval --json.`);
  return compareReports(before, report);
}

function printExplanation({ tools, proposals }: EvalExplanation, out: Output): void {
  const line = (words: string): void => out.styled(wrapLine(words, out.width, ' '.repeat(4)));
  out.styled(out.style('bold', 'Tools: tokens in each request, calls in all runs'));
  for (const { name, tokens, calls } of tools)
    line(`  ${String(tokens).padStart(6)} ${String(calls).padStart(6)}  ${cleanLine(name, 100)}`);
  if (proposals.length > 0) out.styled(out.style('bold', 'Proposals'));
  for (const proposal of proposals) line(`  - ${cleanLine(proposal, 600)}`);
}

const VERDICTS: Readonly<Record<ModelComparison['verdict'], string>> = {
  worse: 'worse',
  better: 'better',
  'none shown': 'no difference shown',
  'too few': 'too few cases to tell',
};

function printComparison(one: ModelComparison, out: Output): void {
  const { name, cases, difference, low, high, verdict, worse, better, tokensPerRun } = one;
  const points = (share: number): string => `${share > 0 ? '+' : ''}${Math.round(share * 100)}`;
  const colour = verdict === 'worse' ? 'red' : verdict === 'better' ? 'green' : 'yellow';
  out.styled(
    `${out.style('bold', cleanLine(name, 100))}  ${out.style(colour, VERDICTS[verdict])}: ${points(difference)} points (${points(low)} to ${points(high)}) in ${cases} cases, ${tokensPerRun.join(' → ')} tokens a run`,
  );
  for (const [mark, names] of [
    ['-', worse],
    ['+', better],
  ] as const)
    for (const each of names.slice(0, 20)) out.styled(`  ${mark} ${cleanLine(each, 200)}`);
}

function fileOf({ words: [typed] }: Typed): string {
  if (typed !== undefined) {
    if (!existsSync(typed)) throw usageError(`The file ${typed} does not exist.`);
    return typed;
  }
  const found = EVAL_FILES.find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw usageError(
    `There is no evals.ts. Save this as evals.ts, with your server, and run the command again:\n  import { call, evals } from 'fullmcp/evals';\n  import server from './server.js';\n\n  export default evals(server, [{ ask: '…', expect: call('…') }]);`,
  );
}

async function loadSuite(file: string): Promise<Evals> {
  const exports = await loadModule(file).catch((error: unknown) => {
    throw loadFailure(file, error);
  });
  const inner = exports['default'] as Readonly<Record<string, unknown>> | undefined;
  const found = [inner, exports['evals'], inner?.['default']].find(isSuite);
  if (found !== undefined) return found;
  throw usageError(
    `${file} does not export what evals() returns: export default evals(server, [{ ask: '…' }]).`,
  );
}

/** The cases that the inspector has saved, with the server that was typed, or that the file names. */
async function savedSuite(file: string, input: Typed): Promise<Evals> {
  const [{ readCaseFile }, { evals }, { readText }, { takeTarget, targetInFile }] = await Promise.all([
    import('../../../evals/cases/case-file.js'),
    import('../../../evals/evals.js'),
    import('../../../tooling/requests/request-file.js'),
    import('../../target/read-target.js'),
  ]);
  const text = (await readText(file)) ?? '';
  const { target, cases } = inWordsOf(file, () => readCaseFile(text));
  const command = `fullmcp eval ${shellWord(file)}`;
  const own = target === undefined ? [] : [targetInFile(file, target, command)];
  const words = input.words.length > 1 ? input.words.slice(1) : own;
  if (words.length === 0 && input.process === undefined)
    throw usageError(`Say which server the cases of ${file} are for: ${command} <target>`);
  const server = await takeTarget({ ...input, words });
  return inWordsOf(file, () => evals(server.target.target as EvalSource, cases as readonly EvalCase[]));
}

function inWordsOf<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw usageError(`${file}: ${(error as Error).message}`);
  }
}

function isSuite(value: unknown): value is Evals {
  const { names, run } = (value ?? {}) as Partial<Evals>;
  return Array.isArray(names) && typeof run === 'function';
}

function runOptions(input: Typed, tapes: string): EvalRunOptions {
  const { out, signal } = input;
  const isRecording = input.flag('record');
  for (const option of ['dry', 'again', 'max-tokens', 'max-cost', 'max-time'])
    if (!isRecording && input.text(option) === undefined && !input.flag(option)) continue;
    else if (!isRecording)
      throw usageError(`--${option} is only for --record: without it, no model is asked.`);
  const runs = wholeNumber(input, 'runs', [1, 1000]);
  const [tokens, cost, ms] = [
    wholeNumber(input, 'max-tokens', [1, 999_999_999]),
    money(input),
    duration(input, 'max-time'),
  ];
  return {
    tapes,
    record: isRecording,
    dry: input.flag('dry'),
    again: input.flag('again'),
    models: input.texts('model'),
    only: input.texts('only'),
    strict: input.flag('strict'),
    budget: {
      ...(tokens !== undefined && { tokens }),
      ...(cost !== undefined && { cost }),
      ...(ms !== undefined && { ms }),
    },
    ...(runs !== undefined && { runs }),
    env: process.env,
    signal,
    onProgress: (progress) =>
      out.redraw(`${progress.done} of ${progress.of}  ${cleanLine(progress.case, 60)}`),
  };
}

function printPlan(report: EvalReport, plan: readonly ModelPlan[], out: Output): void {
  const range = ([least, most]: readonly [number, number], digits = 0): string =>
    least === most ? most.toFixed(digits) : `${least.toFixed(digits)} to ${most.toFixed(digits)}`;
  for (const { name, conversations, requests, tokens, cost } of plan)
    out.styled(
      `${out.style('bold', cleanLine(name, 100))}  ${conversations} conversations, ${range(requests)} requests, about ${range(tokens)} tokens${cost === undefined ? '' : `, cost ${range(cost, 4)}`}`,
    );
  out.json(report);
  if (!out.isJson)
    out.note(
      'No model was asked. The tokens are an estimate, and those of results of tools come on top; a budget is a limit.',
    );
}

function money(input: Typed): number | undefined {
  const text = input.text('max-cost');
  if (text === undefined) return undefined;
  if (/^\d{1,9}(?:\.\d{1,6})?$/.test(text)) return Number(text);
  throw usageError(`--max-cost must be a number such as 2.50, not ${JSON.stringify(text)}.`);
}

function printModel({ name, cases, score, usage, cost, medianMs, notes }: ModelReport, out: Output): void {
  const facts = [
    `${percent(score.share)} (${percent(score.low)} to ${percent(score.high)})`,
    `${usage.input + usage.output} tokens`,
    ...(cost === undefined ? [] : [`cost ${cost.toFixed(4)}`]),
    `${medianMs} ms`,
  ];
  out.styled(`${out.style('bold', cleanLine(name, 100))}  ${out.style('dim', facts.join(', '))}`);
  for (const one of cases) printCase(one, out);
  for (const note of notes) out.note(`${cleanLine(name, 100)}: ${note}`);
}

function printCase(one: CaseReport, out: Output): void {
  const { name, state, because, ok, passed, of } = one;
  const isWord = !['fresh', 'recorded'].includes(state);
  const word = isWord ? state : ok ? 'ok' : 'FAILED';
  const mark = out.style(ok ? (isWord ? 'yellow' : 'green') : 'red', word.padEnd(9));
  const line = (words: string): void => out.styled(wrapLine(words, out.width, ' '.repeat(13)));
  line(`  ${mark}  ${cleanLine(name, 200)}  ${out.style('dim', of > 0 ? `${passed} of ${of}` : '')}`);
  if (isWord && because.length > 0) line(`${' '.repeat(13)}${cleanLine(because.join('; '), 500)}`);
  for (const [says, count] of problemsOf(one))
    line(`${' '.repeat(13)}${count > 1 ? `${count} times: ` : ''}${cleanLine(says, 500)}`);
}

/** The mistakes of all runs of a case, each with the number of runs that have it. */
function problemsOf({ runs }: CaseReport): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { problems } of runs)
    for (const says of new Set(problems.map((problem) => problem.says)))
      counts.set(says, (counts.get(says) ?? 0) + 1);
  return counts;
}

async function saveReports(
  input: Typed,
  { file, report }: { readonly file: string; readonly report: EvalReport },
): Promise<void> {
  const [junit, html] = [input.text('junit'), input.text('html')];
  if (junit !== undefined) await saveReport(junit, junitText(file, report.models.flatMap(toCases)));
  if (html !== undefined) {
    const { htmlReport } = await import('../../../evals/report/html.js');
    await saveReport(html, htmlReport(report, { title: basename(file) }));
  }
}

function toCases({ name: model, cases }: ModelReport): readonly JUnitCase[] {
  return cases.map((one) => {
    const says = [...problemsOf(one).keys(), ...(one.state === 'fresh' ? [] : one.because)];
    const problems = says.map((sentence) => ({ kind: one.state, says: sentence }));
    return {
      group: model,
      name: one.name,
      ms: one.runs.reduce((sum, { ms }) => sum + ms, 0),
      problems: one.ok
        ? []
        : problems.length > 0
          ? problems
          : [{ kind: one.state, says: `It is ${one.state}.` }],
      ...(one.state === 'skipped' && { skipped: one.because.join('; ') }),
    };
  });
}

function summaryOf(
  { models, mode, spent }: EvalReport,
  { file, input }: { readonly file: string; readonly input: Typed },
): string {
  const cases = models.flatMap((model) => model.cases);
  const count = (test: (one: CaseReport) => boolean): number => cases.filter(test).length;
  const parts = [
    `${count(({ ok }) => ok)} ok`,
    `${count(({ ok, state }) => !ok && ['fresh', 'recorded', 'touched'].includes(state))} failed`,
    ...(['touched', 'stale', 'missing', 'failed', 'skipped'] as const)
      .map((state) => [state, count((one) => one.state === state)] as const)
      .filter(([, number]) => number > 0)
      .map(([state, number]) => `${number} ${state === 'failed' ? 'without an answer' : state}`),
  ];
  const used =
    mode === 'recorded' ? ` ${spent.isEstimate ? 'At most ' : ''}${spent.tokens} tokens used.` : '';
  const old = count(({ state }) => ['stale', 'missing', 'touched'].includes(state));
  const models_ = input
    .texts('model')
    .map((name) => ` --model ${shellWord(name)}`)
    .join('');
  const advice =
    old > 0 && mode === 'replayed'
      ? `\nRecord ${old === 1 ? 'it' : 'them'} again: fullmcp eval ${shellWord(file)} --record${models_}`
      : '';
  return `${parts.join(', ')}.${used}${advice}`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
