import { connect } from '../../../client.js';
import { serve } from '../../../node.js';
import { newestRevision, revisions } from '../../../protocol/tables/revisions.js';
import { proxy } from '../../../proxy.js';
import { closestName } from '../../../schema/explain/closest-name.js';
import { cleanLine } from '../../../tooling/clean.js';
import type { Typed } from '../../command/definition.js';
import { FoundError, usageError } from '../../command/failures.js';
import { connectOptions, unasked } from '../../target/open.js';
import { takeTarget } from '../../target/read-target.js';
import type { Output } from '../../terminal/output.js';
import { missingFixture, offeredBy, type ServerOffers, testsProxy } from './conformance/fixtures.js';
import {
  findSuite,
  runScenario,
  type Scenario,
  type ScenarioResult,
  scenariosOf,
} from './conformance/suite.js';

/** Runs the official suite against a target: `fullmcp doctor --conformance`. */
export async function runConformance(input: Typed): Promise<void> {
  const { out, signal } = input;
  const suite = findSuite(input.text('suite') ?? '.');
  const revision = input.text('revision') ?? newestRevision;
  if (!(revisions as readonly string[]).includes(revision))
    throw usageError(`--revision must be one of ${revisions.join(', ')}, not ${JSON.stringify(revision)}.`);
  const scenarios = chosen(await scenariosOf(suite, signal), input, revision);
  const results: TestedScenario[] = [];
  await atUrl(input, async ({ url, isProxy }) => {
    // A scenario that was asked for by its name is run, whatever the server has.
    const offered = input.texts('scenario').length > 0 ? undefined : await listOffered(url, signal);
    for (const scenario of scenarios) {
      const { name } = scenario;
      out.redraw(`${results.length + 1} of ${scenarios.length}  ${name}`);
      const missing = offered && missingFixture(name, offered);
      const result =
        missing === undefined
          ? await runScenario(suite, { url, scenario, revision, signal })
          : notApplicable(name, missing);
      out.redraw('');
      results.push({ ...result, tests: isProxy && testsProxy(name) ? 'proxy' : 'server' });
      print(results.at(-1) as TestedScenario, out);
    }
  });
  const count = (wanted: ScenarioResult['result']): number =>
    results.filter(({ result }) => result === wanted).length;
  const counts = {
    ...{ passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
    notApplicable: count('not applicable'),
  };
  const answer = { ok: counts.failed === 0, suite: suite.version, revision, ...counts, scenarios: results };
  const summary = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped, ${counts.notApplicable} not applicable · suite ${suite.version}, revision ${revision}`;
  if (!answer.ok) throw new FoundError(summary, answer);
  out.json(answer);
  if (!out.isJson) out.note(summary);
}

function chosen(all: readonly Scenario[], input: Typed, revision: string): readonly Scenario[] {
  const names = input.texts('scenario');
  if (names.length === 0) return all.filter(({ revisions: own }) => own.includes(revision));
  return names.map((name) => {
    const found = all.find((scenario) => scenario.name === name);
    if (found) return found;
    const close = closestName(
      name,
      all.map((scenario) => scenario.name),
    );
    throw usageError(
      `The suite has no scenario ${JSON.stringify(name)}.${close ? ` Did you mean ${JSON.stringify(close)}?` : ''}`,
    );
  });
}

interface TestedScenario extends ScenarioResult {
  readonly tests: 'server' | 'proxy';
}

function notApplicable(name: string, missing: string): ScenarioResult {
  const problem = `needs ${missing}, which a server has only for this test`;
  return { name, result: 'not applicable', checks: 0, problems: [problem] };
}

async function listOffered(url: string, signal: AbortSignal): Promise<ServerOffers> {
  await using client = await connect(url, { ...unasked, signal, reconnect: false });
  return await offeredBy(client);
}

interface TestedUrl {
  readonly url: string;
  /** Whether a proxy of fullmcp is at the URL. */
  readonly isProxy: boolean;
}

/** Gives a URL that the suite can use without credentials. */
async function atUrl(input: Typed, use: (tested: TestedUrl) => Promise<void>): Promise<void> {
  const { target } = await takeTarget(input);
  const { signal, reconnect, timeoutMs, revision, ...options } = connectOptions(input, target);
  const isPlain = options.auth === undefined && Object.keys(options.headers ?? {}).length === 0;
  if (isPlain && target.own === undefined && /^https?:\/\//i.test(target.word))
    return use({ url: target.word, isProxy: false });
  // The suite sends requests that must be refused, which is not worth a warning.
  const logger = (level: string, message: string): void => {
    if (level === 'error') input.out.note(cleanLine(message, 300));
  };
  await using server = proxy(target.target, { ...options, logger });
  await using serving = await serve(server, {
    ...{ host: '127.0.0.1', port: 0, websocket: false, signals: false, exit: false },
  });
  await use({ url: serving.url, isProxy: true });
}

function print({ name, result, problems, tests }: TestedScenario, out: Output): void {
  const colours = { passed: 'green', failed: 'red', skipped: 'dim', 'not applicable': 'dim' } as const;
  const mark = tests === 'proxy' ? out.style('dim', '  tests the proxy') : '';
  out.styled(`${out.style(colours[result], result.padEnd(7))} ${cleanLine(name, 100)}${mark}`);
  for (const problem of problems) out.styled(`        ${out.style('dim', cleanLine(problem, 300))}`);
}
