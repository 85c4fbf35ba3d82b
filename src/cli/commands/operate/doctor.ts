import { cleanLine } from '../../../tooling/clean.js';
import { HOST_NAMES } from '../../../tooling/lint/host-profiles.js';
import type { Command, Options, Typed } from '../../command/definition.js';
import { FoundError, usageError } from '../../command/failures.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { takeTarget } from '../../target/read-target.js';
import { wrapLine } from '../../terminal/wrap.js';
import { examine } from './doctor/examine.js';
import type { StepFinding } from './doctor/finding.js';

const MARKS = {
  ok: ['green', '✓'],
  warning: ['yellow', '!'],
  failed: ['red', '✗'],
  skipped: ['dim', '-'],
} as const;
const MAX_TEXT = 600;

const CONFORMANCE_DETAILS =
  'The suite, @modelcontextprotocol/conformance, must be installed in this folder. It tests servers over HTTP: a target that is not a URL,\nor needs a token or headers, is tested through a proxy of fullmcp. Many scenarios call tools that a server has only for this test, such\nas test_simple_text: a server without them is not tested with these, unless --scenario names them. Scenarios about HTTP test the proxy,\nif there is one, and are marked. Exits with 1 if a scenario fails.';
const CONFORMANCE_OPTIONS: Options = {
  conformance: { type: 'boolean', help: 'run the official conformance suite instead' },
  scenario: {
    type: 'string',
    multiple: true,
    value: 'name',
    help: 'a scenario to run; default: all of the revision',
  },
  suite: {
    type: 'string',
    value: 'folder',
    help: 'the folder in which the suite is installed; default: this one',
  },
};

/** `fullmcp doctor`. */
export const doctor: Command = {
  usage: '<target> [--conformance]',
  details:
    'For a URL: DNS, TCP, TLS, the HTTP endpoint, the host check, headers, the revisions, event streams, CORS, authorization hop by hop, and then a\nconnection. For a program: the connection. Each problem is printed with its fix, and the exit code is 1 if a step failed. A step takes at\nmost --timeout, 5 s by default. No tool is called.\n\nWith --for, also what a host demands: its address, ports, sessions, login, registration, and the definitions of tools.\n\nWith --conformance, runs the official suite instead. ' +
    CONFORMANCE_DETAILS,
  words: [1, 1],
  options: {
    ...TARGET_OPTIONS,
    origin: {
      type: 'string',
      value: 'origin',
      help: 'the origin of a web page that must be able to call the server, for CORS',
    },
    for: {
      type: 'string',
      multiple: true,
      value: 'host',
      choices: HOST_NAMES,
      help: 'a host whose demands are examined as well; can be given several times',
    },
    ...CONFORMANCE_OPTIONS,
  },
  examples: [
    { line: 'fullmcp doctor https://example.com/mcp', says: 'Every step, and how to repair what fails.' },
    {
      line: 'fullmcp doctor https://example.com/mcp --origin https://app.example.com',
      says: 'Also whether the pages of a web app can use it.',
    },
    {
      line: 'fullmcp doctor https://example.com/mcp --for claude --for chatgpt',
      says: 'Also whether these hosts can connect, log in and use the tools.',
    },
    {
      line: 'fullmcp doctor http://localhost:3000/mcp --conformance',
      says: 'All scenarios of the official suite for the newest revision.',
    },
    {
      line: 'fullmcp doctor ./server.ts --conformance --revision 2025-11-25 --scenario tools-list --scenario ping',
      says: 'Two scenarios of an earlier revision.',
    },
  ],
  json: '{ ok: boolean, target: string, findings: { step: string, status: "ok" | "warning" | "failed" | "skipped", message: string, fix?: string }[] }; ok is false if the exit code is 1. With --conformance: { ok: boolean, suite: string, revision: string, passed: number, failed: number, skipped: number, notApplicable: number, scenarios: { name: string, result: "passed" | "failed" | "skipped" | "not applicable", tests: "server" | "proxy", checks: number, problems: string[] }[] }',
  async run(input) {
    checkOrigin(input.text('origin'));
    if (input.flag('conformance')) return (await import('./conformance.js')).runConformance(input);
    for (const option of ['scenario', 'suite'])
      if (input.flag(option)) throw usageError(`--${option} needs --conformance.`);
    const { target } = await takeTarget(input);
    const findings: StepFinding[] = [];
    input.out.wait(`examining ${target.word || target.typed}`);
    for await (const finding of examine(input, target)) {
      findings.push(finding);
      print(input, finding);
    }
    input.out.wait();
    const broken = findings.filter(({ status }) => status === 'failed').length;
    const answer = { ok: broken === 0, target: target.word || target.typed, findings };
    if (broken > 0) throw new FoundError(broken === 1 ? '1 step failed.' : `${broken} steps failed.`, answer);
    input.out.json(answer);
    const warnings = findings.filter(({ status }) => status === 'warning').length;
    const found = warnings === 0 ? 'Nothing is wrong' : `Nothing failed. Warnings: ${warnings}`;
    if (!input.out.isJson) input.out.note(`${found}${restOf(findings)}`);
  },
};

/** The steps that need a request that the server accepts. */
const ACCEPTED: readonly string[] = ['headers', 'revisions', 'stream'];

/** The end of the summary: what was not examined because no token was given. */
function restOf(findings: readonly StepFinding[]): string {
  const skipped = findings.filter(({ status }) => status === 'skipped').map(({ step }) => step);
  if (!skipped.includes('auth: token')) return '.';
  const count = skipped.filter((step) => ACCEPTED.includes(step)).length;
  return ` so far. ${count} steps need a token: run it again with --token or --header.`;
}

function checkOrigin(origin: string | undefined): void {
  if (origin === undefined || (URL.canParse(origin) && new URL(origin).origin === origin)) return;
  throw usageError(
    `--origin must be an origin such as https://app.example.com, without a path, not ${JSON.stringify(origin)}.`,
  );
}

function print({ out }: Typed, { step, status, message, fix }: StepFinding): void {
  const [style, mark] = MARKS[status];
  const indent = ' '.repeat(18);
  const line = `${out.style(style, mark)} ${out.style('bold', step.padEnd(16))}${cleanLine(message, MAX_TEXT)}`;
  out.styled(wrapLine(line, out.width, indent));
  if (fix !== undefined)
    out.styled(wrapLine(indent + out.style('cyan', cleanLine(fix, MAX_TEXT)), out.width, indent));
}
