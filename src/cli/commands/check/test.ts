import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import process from 'node:process';
import { closestName } from '../../../schema/explain/closest-name.js';
import { cleanLine, shellWord } from '../../../tooling/clean.js';
import { GivenAnswers } from '../../../tooling/requests/given-answers.js';
import { changeRequests, type LoadedRequests, loadRequests } from '../../../tooling/requests/request-file.js';
import { RequestValues } from '../../../tooling/requests/request-values.js';
import { clientPeer, type RequestReport, RequestRun } from '../../../tooling/requests/run-requests.js';
import {
  isOwnTarget,
  REQUESTS_FILE,
  RequestsError,
  type SavedRequests,
} from '../../../tooling/requests/saved-request.js';
import type { Command, Typed } from '../../command/definition.js';
import { FoundError, usageError } from '../../command/failures.js';
import { type JUnitCase, junitText } from '../../results/junit.js';
import { saveReport } from '../../results/save-report.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { targetInFile } from '../../target/read-target.js';
import type { Output } from '../../terminal/output.js';
import { progressLine } from '../../terminal/progress-line.js';
import { wrapLine } from '../../terminal/wrap.js';

/** `fullmcp test`. */
export const test: Command = {
  usage: '[target]',
  details:
    'Sends the requests of mcp.requests.json in their order, and compares each result with what the file expects of it. Also compares the\ntools, resources and prompts that they use with what they were. Every difference is a sentence. Exits with 1 if there is one.\n\nWithout a target, "target" of the file is started. Values such as $\u007bAPI_KEY} are those of environment variables that "env" of the file\nlists; they are neither printed nor written back. Everything that the requests do is done: use a server for tests.\n\n--update writes what came back over what "equal" expects, and the definitions as they are now. Look at the difference before you commit it.',
  words: [0, 1],
  options: {
    only: {
      type: 'string',
      multiple: true,
      value: 'name',
      help: 'one request to run; can be given several times',
    },
    update: { type: 'boolean', help: 'write what came back into the file, instead of failing' },
    junit: { type: 'string', value: 'file', help: 'write a JUnit report, for CI' },
    file: { type: 'string', value: 'file', help: `the file with the requests; default: ${REQUESTS_FILE}` },
    ...TARGET_OPTIONS,
  },
  examples: [
    { line: 'fullmcp test', says: 'Runs all requests of the project against its server.' },
    {
      line: 'fullmcp test https://staging.example.com/mcp --junit report.xml',
      says: 'Another server, and a report for CI.',
    },
    {
      line: 'fullmcp test ./server.ts --only "greets Ada" --update',
      says: 'Accepts what one request returns now.',
    },
  ],
  json: '{ ok: boolean, file: string, passed: number, failed: number, skipped: number, results: { what: "request" | "tool" | "resource" | "prompt", name: string, ms: number, problems: { kind: "value" | "failure" | "question" | "description" | "schema" | "definition", says: string }[], skipped?: string }[], updated?: boolean }; ok is false if the exit code is 1',
  run: async (input) => {
    try {
      await testTarget(input);
    } catch (error) {
      throw error instanceof RequestsError ? usageError(error.message) : error;
    }
  },
};

async function testTarget(input: Typed): Promise<void> {
  const path = input.text('file') ?? REQUESTS_FILE;
  const loaded = await loadRequests(path);
  const { requests: file, text } = loaded;
  if (text === undefined) throw usageError(noFile(input, path));
  const answers = new GivenAnswers();
  const values = new RequestValues(file, process.env);
  const only = onlyOf(input, file);
  let running = '';
  const run = new RequestRun(file, {
    only,
    values,
    signal: input.signal,
    onStart: (name) => {
      running = name;
      input.out.redraw(`running  ${cleanLine(name, 60)}`);
    },
  });
  run.check();
  const reports: RequestReport[] = [];
  await withTarget(
    targetOf(input, file, path),
    async ({ client }) => {
      const peer = clientPeer(client, {
        answers,
        signal: input.signal,
        onProgress: (progress) => progressLine(input.out, running, false)(progress),
      });
      for await (const report of run.run(peer)) {
        reports.push(report);
        print(report, input.out);
      }
    },
    answers.handlers,
  );
  const final = input.flag('update') ? await update(run, { path, loaded, reports, out: input.out }) : reports;
  await finish(input, { path, reports: final, run });
}

interface Finished {
  readonly path: string;
  readonly reports: readonly RequestReport[];
  readonly run: RequestRun;
}

async function finish(input: Typed, { path, reports, run }: Finished): Promise<void> {
  const { out } = input;
  const junit = input.text('junit');
  if (junit !== undefined) await saveReport(junit, junitText(path, reports.map(toCase)));
  const failed = reports.filter(({ problems }) => problems.length > 0).length;
  const skipped = reports.filter((report) => report.skipped !== undefined).length;
  const passed = reports.length - failed - skipped;
  const isUpdate = input.flag('update');
  const ok = failed + skipped === 0;
  const counts = { ok, file: path, passed, failed, skipped };
  const answer = { ...counts, results: reports, ...(isUpdate && { updated: true }) };
  const summary = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} not sent` : ''}.`;
  if (!ok) throw new FoundError(summary, answer);
  out.json(answer);
  if (out.isJson) return;
  out.note(summary);
  if (!isUpdate && run.unknown.length > 0)
    out.note(
      `${path} does not know ${listed(run.unknown)} yet. To notice changes of descriptions and schemas: fullmcp test --update`,
    );
}

interface Updating {
  readonly path: string;
  readonly loaded: LoadedRequests;
  readonly reports: readonly RequestReport[];
  readonly out: Output;
}

/** Writes what came back into the file. Returns the reports with what is still not as expected. */
async function update(
  run: RequestRun,
  { path, loaded, reports, out }: Updating,
): Promise<readonly RequestReport[]> {
  const { requests, text } = await changeRequests(path, (file) => run.updated(file), loaded);
  if (!out.isJson) out.note(text === loaded.text ? `${path} is up to date.` : `${path} was updated.`);
  const after = new Map(
    [...run.compared(requests)].map((report) => [`${report.what} ${report.name}`, report]),
  );
  return reports.map((report) => {
    const { problems } = after.get(`${report.what} ${report.name}`) ?? report;
    return { ...report, problems };
  });
}

function onlyOf(input: Typed, { requests }: SavedRequests): ReadonlySet<string> | undefined {
  const only = input.texts('only');
  const names = requests.map(({ name }) => name);
  for (const name of only) {
    if (names.includes(name)) continue;
    const close = closestName(name, names);
    throw usageError(
      `No request is called ${JSON.stringify(name)}.${close ? ` Did you mean ${JSON.stringify(close)}?` : ''}`,
    );
  }
  return only.length === 0 ? undefined : new Set(only);
}

function noFile(input: Typed, path: string): string {
  const beside = fileBeside(input, path);
  if (beside !== undefined)
    return `There is no ${path} in this folder, but ${beside} exists. Run it with: fullmcp test --file ${shellWord(beside)}`;
  return `There is no ${path}. Save this as ${path}, with the name of a tool, and run the command again:\n${firstFile(input, path)}`;
}

/** The file of the project that the target belongs to: in the folder of the target, or in one above it. */
function fileBeside({ words: [typed], process: command }: Typed, path: string): string | undefined {
  if (typed === undefined || command !== undefined || path !== REQUESTS_FILE || !existsSync(typed))
    return undefined;
  for (let folder = dirname(resolve(typed)); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, path);
    if (existsSync(file)) return relative('', file);
  }
  return undefined;
}

/** A file to begin with. It has the target that was typed, if a file of requests may name it. */
function firstFile({ words: [typed = 'src/server.ts'], process: command }: Typed, path: string): string {
  const target = relative(dirname(path), typed).replaceAll('\\', '/');
  const isNamed = command === undefined && isOwnTarget(target);
  const file = { version: 1, ...(isNamed && { target }), requests: [{ name: '…', tool: '…' }] };
  // Lines that are indented are not broken by a narrow terminal, so that they can be copied.
  return JSON.stringify(file, undefined, 2).replaceAll(/^/gm, '  ');
}

/** The target that was typed, or else that of the file, which is below the folder of the file. */
function targetOf(input: Typed, { target }: SavedRequests, path: string): Typed {
  if (input.words.length > 0 || input.process) return input;
  if (target === undefined)
    throw usageError(`Say which server to test: fullmcp test <target>, or "target" in ${path}.`);
  return { ...input, words: [targetInFile(path, target, 'fullmcp test')] };
}

function print({ what, name, ms, problems, skipped }: RequestReport, out: Output): void {
  out.redraw('');
  const title = cleanLine(what === 'request' ? name : `${what} ${name}`, 200);
  const time = what === 'request' && skipped === undefined ? `  ${out.style('dim', `${ms} ms`)}` : '';
  const indent = ' '.repeat(10);
  const line = (words: string): void => out.styled(wrapLine(words, out.width, indent));
  if (skipped !== undefined)
    return line(`${out.style('dim', 'not sent')}  ${title}  ${out.style('dim', skipped)}`);
  const mark = problems.length === 0 ? out.style('green', 'ok      ') : out.style('red', 'FAILED  ');
  line(`${mark}  ${title}${time}`);
  for (const { says } of problems) line(indent + cleanLine(says, 2000));
}

function toCase({ what, name, ...rest }: RequestReport): JUnitCase {
  return what === 'request'
    ? { ...rest, group: 'requests', name }
    : { ...rest, group: 'definitions', name: `${what} ${name}` };
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 3).map((name) => cleanLine(name, 60));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}
