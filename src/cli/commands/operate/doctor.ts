import { cleanLine } from '../../../tooling/clean.js';
import type { Command, Typed } from '../../command/definition.js';
import { FoundError, usageError } from '../../command/failures.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { takeTarget } from '../../target/read-target.js';
import { examine } from './doctor/examine.js';
import type { StepFinding } from './doctor/finding.js';

const MARKS = {
  ok: ['green', '✓'],
  warning: ['yellow', '!'],
  failed: ['red', '✗'],
  skipped: ['dim', '-'],
} as const;
const MAX_TEXT = 600;

/** `fullmcp doctor`. */
export const doctor: Command = {
  usage: '<target>',
  details:
    'For a URL: DNS, TCP, TLS, the HTTP endpoint, the host check, headers, the era, event streams, CORS, authorization hop by hop, and then a\nconnection. For a program: the connection. Each problem is printed with its fix, and the exit code is 1 if a step failed. A step takes at\nmost --timeout, 5 s by default. No tool is called.',
  words: [1, 1],
  options: {
    ...TARGET_OPTIONS,
    origin: {
      type: 'string',
      value: 'origin',
      help: 'the origin of a web page that must be able to call the server, for CORS',
    },
  },
  examples: [
    { line: 'fullmcp doctor https://example.com/mcp', says: 'Every step, and how to repair what fails.' },
    {
      line: 'fullmcp doctor https://example.com/mcp --origin https://app.example.com',
      says: 'Also whether the pages of a web app can use it.',
    },
  ],
  json: '{ ok: boolean, target: string, findings: { step: string, status: "ok" | "warning" | "failed" | "skipped", message: string, fix?: string }[] }; ok is false if the exit code is 1',
  async run(input) {
    checkOrigin(input.text('origin'));
    const { target } = await takeTarget(input);
    const findings: StepFinding[] = [];
    for await (const finding of examine(input, target)) {
      findings.push(finding);
      print(input, finding);
    }
    const broken = findings.filter(({ status }) => status === 'failed').length;
    const answer = { ok: broken === 0, target: target.word || target.typed, findings };
    if (broken > 0) throw new FoundError(broken === 1 ? '1 step failed.' : `${broken} steps failed.`, answer);
    input.out.json(answer);
    const warnings = findings.filter(({ status }) => status === 'warning').length;
    if (!input.out.isJson)
      input.out.note(warnings === 0 ? 'Nothing is wrong.' : `Nothing failed. Warnings: ${warnings}.`);
  },
};

function checkOrigin(origin: string | undefined): void {
  if (origin === undefined || (URL.canParse(origin) && new URL(origin).origin === origin)) return;
  throw usageError(
    `--origin must be an origin such as https://app.example.com, without a path, not ${JSON.stringify(origin)}.`,
  );
}

function print({ out }: Typed, { step, status, message, fix }: StepFinding): void {
  const [style, mark] = MARKS[status];
  out.styled(
    `${out.style(style, mark)} ${out.style('bold', step.padEnd(16))}${cleanLine(message, MAX_TEXT)}`,
  );
  if (fix !== undefined) out.styled(`${' '.repeat(18)}${out.style('cyan', cleanLine(fix, MAX_TEXT))}`);
}
