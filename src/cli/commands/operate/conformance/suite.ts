// The official conformance suite, which is a program of its own: finds it, and runs its scenarios.

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { isObject } from '../../../../jsonrpc/message.js';
import { CommandError, usageError } from '../../../command/failures.js';

const NAME = '@modelcontextprotocol/conformance';
const SCENARIO_MS = 120_000;
const MAX_OUTPUT = 1_000_000;
const MAX_LINES = 6;

export interface Suite {
  readonly version: string;
  /** The Node that runs it. */
  readonly node: string;
  readonly program: string;
}

/** Finds the suite in a folder or one above it. */
export function findSuite(folder: string): Suite {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const home = join(at, 'node_modules', NAME);
    if (existsSync(join(home, 'package.json'))) return suiteIn(home, at);
    if (at === dirname(at)) break;
  }
  throw usageError(
    `The official suite is not installed here. Install it with: npm install --save-dev ${NAME} (or name its folder with --suite)`,
  );
}

function suiteIn(home: string, root: string): Suite {
  const { version, bin } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
    readonly version?: string;
    readonly bin?: string | Readonly<Record<string, string>>;
  };
  const program = typeof bin === 'string' ? bin : Object.values(bin ?? {})[0];
  if (program === undefined) throw usageError(`${home} has no program. Install the suite again.`);
  // The package `node` brings a Node that is newer than this one.
  const own = join(root, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
  return {
    version: version ?? '?',
    node: existsSync(own) ? own : process.execPath,
    program: join(home, program),
  };
}

export interface Scenario {
  readonly name: string;
  /** The revisions that it applies to; none for an extension. */
  readonly revisions: readonly string[];
}

/** The scenarios for servers. */
export async function scenariosOf(suite: Suite, signal: AbortSignal): Promise<readonly Scenario[]> {
  const { output } = await run(suite, ['list', '--server'], signal);
  const found = Array.from(
    output.matchAll(/^ *- (\S{1,200}) \[([^\]\n]{0,200})\]$/gm),
    ([, name = '', list = '']) => ({
      name,
      revisions: list.split(',').filter((one) => /^\d{4}-\d\d-\d\d$/.test(one)),
    }),
  );
  if (found.length > 0) return found;
  throw new CommandError(
    'failed',
    isOldNode(suite)
      ? `The suite needs Node 22 or later, and this is Node ${process.versions.node}. Install one beside it: npm install --save-dev node@24`
      : `The suite lists no scenarios. It says: ${lastLines(output)}`,
  );
}

export interface ScenarioResult {
  readonly name: string;
  readonly result: 'passed' | 'failed' | 'skipped' | 'not applicable';
  /** The number of checks that succeeded. */
  readonly checks: number;
  /** A sentence for each check that failed or warned. */
  readonly problems: readonly string[];
}

export interface ScenarioRun {
  readonly url: string;
  readonly scenario: Scenario;
  readonly revision: string;
  readonly signal: AbortSignal;
}

/** Runs one scenario against a server. */
export async function runScenario(
  suite: Suite,
  { url, scenario, revision, signal }: ScenarioRun,
): Promise<ScenarioResult> {
  const { name, revisions } = scenario;
  const folder = await mkdtemp(join(tmpdir(), 'fullmcp-conformance-'));
  try {
    const args = ['server', '--url', url, '--scenario', name, '--spec-version', revision, '-o', folder];
    // Extensions are not on the timeline of revisions.
    if (revisions.length === 0) args.push('--force');
    const { code, output } = await run(suite, args, signal);
    const checks = checksIn(folder);
    const having = (status: string): readonly Check[] => checks.filter((check) => check.status === status);
    const passed = having('SUCCESS').length;
    const failures = having('FAILURE');
    const problems = [...failures, ...having('WARNING')].map(
      ({ id, status, errorMessage, description }) =>
        `${status === 'WARNING' ? 'warning: ' : ''}${id}: ${errorMessage ?? description ?? 'failed'}`,
    );
    if (failures.length > 0) return { name, result: 'failed', checks: passed, problems };
    if (passed > 0) return { name, result: 'passed', checks: passed, problems };
    if (code === 0) return { name, result: 'skipped', checks: 0, problems };
    return {
      name,
      result: 'failed',
      checks: 0,
      problems: [`It ended with code ${code}: ${lastLines(output)}`],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly description?: string;
  readonly errorMessage?: string;
}

function checksIn(folder: string): readonly Check[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => basename(file) === 'checks.json')
    .flatMap((file) => {
      const value: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'));
      return Array.isArray(value) ? (value.filter(isObject) as unknown as Check[]) : [];
    });
}

function run(
  { node, program }: Suite,
  args: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [program, ...args], {
      env: { ...process.env, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: SCENARIO_MS,
      killSignal: 'SIGKILL',
      signal,
    });
    let output = '';
    const keep = (text: string): void => {
      output = `${output}${text}`.slice(-MAX_OUTPUT);
    };
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    child.on('error', reject).on('close', (code) => resolve({ code, output }));
  });
}

function lastLines(output: string): string {
  return output.trim().split('\n').slice(-MAX_LINES).join(' ').slice(0, 600);
}

function isOldNode({ node }: Suite): boolean {
  return node === process.execPath && Number(process.versions.node.split('.')[0]) < 22;
}
