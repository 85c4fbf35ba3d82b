import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

type Step = { uses?: string; run?: string; with?: Record<string, unknown> };
type Job = {
  uses?: string;
  steps?: Step[];
  needs?: string[];
  permissions?: Record<string, string>;
  environment?: string;
  if?: string;
};
type Workflow = { on: unknown; permissions: Record<string, string>; jobs: Record<string, Job> };

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = `${root}.github/workflows/`;
const workflows = readdirSync(folder).map((name) => [name, read(name)] as const);
const scripts: Record<string, string> = JSON.parse(readFileSync(`${root}package.json`, 'utf8')).scripts;
/** Commands that the images of the runners have. */
const KNOWN = [
  'npm ci',
  'npm publish',
  'npm test',
  'mkdir',
  'git config',
  'sudo apt-get',
  'gh release',
  'node -p',
];

function read(name: string): Workflow {
  return parse(readFileSync(folder + name, 'utf8'));
}

function stepsOf({ jobs }: Workflow): Step[] {
  return Object.values(jobs).flatMap(({ steps = [] }) => steps);
}

/** Whether a command of a step exists: a script of package.json, a file of the repository, or a part of every runner. */
function exists(command: string): boolean {
  const script = /^npm run ([\w:-]+)/.exec(command)?.[1];
  if (script !== undefined) return script in scripts;
  const file = /^(?:node|bash) ([\w./-]+)/.exec(command)?.[1];
  if (file !== undefined && !file.startsWith('-')) return existsSync(root + file);
  return KNOWN.some((known) => command.startsWith(known));
}

describe.each(workflows)('the workflow %s', (_, workflow) => {
  test('may only read, unless a job says otherwise', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
  });

  test('runs only commands that exist', () => {
    const commands = stepsOf(workflow).flatMap(({ run }) =>
      run === undefined ? [] : run.trim().split(/\s*&&\s*|\n/),
    );
    expect(commands.length).toBeGreaterThan(1);
    expect(commands.filter((command) => !exists(command))).toEqual([]);
  });
});

describe('the workflow of a release', () => {
  const workflow = read('release.yml');
  const { tests, package: build, publish } = workflow.jobs;

  test('names every action by its commit, because a tag can be moved', () => {
    const actions = stepsOf(workflow).flatMap(({ uses }) => uses ?? []);
    expect(actions.length).toBeGreaterThan(4);
    expect(actions.filter((action) => !/^actions\/[\w-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });

  test('publishes only a tag, after all tests, with provenance, and after somebody has approved it', () => {
    expect(tests?.uses).toBe('./.github/workflows/ci.yml');
    expect(read('ci.yml').on).toHaveProperty('workflow_call');
    expect(publish).toMatchObject({
      if: "github.event_name == 'push'",
      needs: ['tests', 'package'],
      environment: 'npm',
      permissions: { contents: 'write', 'id-token': 'write' },
    });
    const [command = ''] = (publish?.steps ?? []).flatMap(({ run = '' }) =>
      run.startsWith('npm publish') ? [run] : [],
    );
    expect(command).toContain('--provenance');
    expect(command).toContain('packed/fullmcp-*.tgz');
  });

  test('runs no code of the project where it may publish, and may not publish where it runs code', () => {
    const own = (publish?.steps ?? []).map(({ uses = '', run = '' }) => uses + run);
    expect(own.filter((step) => /checkout|npm (?:ci|install|run)|node /.test(step))).toEqual([]);
    expect(build?.permissions).toBeUndefined();
    // An expression inside of a command would let that other job write commands for this one.
    expect(own.filter((step) => step.includes('${{'))).toEqual([]);
  });

  test('packs once, and checks, verifies, lists and dry-runs that package before it is handed on', () => {
    const commands = (build?.steps ?? []).flatMap(({ run }) => run ?? []);
    const order = ['release-check', 'run check', 'pack.js', 'verify-release', 'sbom.js', '--dry-run'];
    const places = order.map((word) => commands.findIndex((command) => command.includes(word)));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
  });
});
