// @ts-check
// Computes the tier of the packed package as the suite's own automation does: `conformance sdk` builds and starts the programs that sdk.json
// names, for both roles and the three newest revisions. Writes what it found to tiers.json, and the tables of docs/tiers.md from that.
//
//   npm run tiers [-- <tarball>]    runs the suite
//   node test/conformance/tiers.js --check    compares the page with the record
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { conclude, readManifest, root } from '../../scripts/files.js';
import { PLACEHOLDER } from '../../scripts/project.js';
import { commitProblem } from '../../scripts/records.js';
import { cli, node, prepare } from './suite.js';

/** @typedef {'server' | 'client'} Role */
/**
 * The result of one role with one revision. `required` says whether the suite has a required set for the revision; without one, every
 * scenario that applies is run.
 * @typedef {object} Row
 * @property {Role} role
 * @property {string} revision
 * @property {boolean} required
 * @property {number} total
 * @property {string[]} failed
 * @property {number} checks The checks that passed.
 * @property {number} warnings
 * @property {{ total: number, failed: string[] }} others Scenarios that are run and never counted, such as extensions.
 *
 * `commit` is missing if a tarball was given, because nothing in it says where it is from.
 * @typedef {{ version: string, sha256: string, commit?: string, date: string, suite: string, node: string, rows: Row[] }} Found
 */

/** The newest first. The suite has required sets for the first two. */
const REVISIONS = [
  { revision: '2026-07-28', required: true },
  { revision: '2025-11-25', required: true },
  { revision: '2025-06-18', required: false },
];
const RECORD = join(root, 'test/conformance/tiers.json');
const PAGE = join(root, 'docs/tiers.md');
const MARK = '<!-- From here on, this page is written by test/conformance/tiers.js. -->';
const results = join(root, '.conformance');
const { version } = readManifest(root);

if (process.argv.includes('--check')) check();
else main();

function main() {
  prepare();
  run(process.execPath, [join(root, 'test/conformance/packed.js'), ...process.argv.slice(2)]);
  rmSync(results, { recursive: true, force: true });
  const rows = REVISIONS.flatMap(({ revision, required }) =>
    /** @type {Role[]} */ (['server', 'client']).map((role) => measure(role, revision, required)),
  );
  /** @type {Found} */
  const found = {
    version: readManifest(join(root, 'build/packed/node_modules/fullmcp')).version,
    sha256: sha256Of(join(root, 'build/packed')),
    ...(process.argv[2] === undefined && { commit: headCommit() }),
    date: new Date().toISOString().slice(0, 10),
    suite: readManifest(join(dirname(cli), '..')).version,
    node: process.version.slice(1),
    rows,
  };
  writeFileSync(RECORD, `${JSON.stringify(found, undefined, 2)}\n`);
  writeFileSync(PAGE, pageOf(found));
  for (const row of rows) console.log(`${row.role} ${row.revision}: ${scoreOf(row)}`);
  process.exitCode = rows.every(({ failed }) => failed.length === 0) ? 0 : 1;
}

/** The hash of the tarball that was installed in a folder. @param {string} folder */
function sha256Of(folder) {
  const [tarball = ''] = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  return createHash('sha256')
    .update(readFileSync(join(folder, tarball)))
    .digest('hex');
}

function headCommit() {
  return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
}

/** Compares the page with the record, and the record with the version of the package and with the history. */
function check() {
  const found = /** @type {Found} */ (JSON.parse(readFileSync(RECORD, 'utf8')));
  const problem = found.commit === undefined ? undefined : commitProblem(found.commit);
  conclude(
    [
      ...(found.version === version
        ? []
        : [`The record is of ${found.version}, not of ${version}. Run: npm run tiers`]),
      ...(problem === undefined ? [] : [`The record ${problem}. Run: npm run tiers`]),
      ...(readFileSync(PAGE, 'utf8') === pageOf(found)
        ? []
        : ['docs/tiers.md is not what the record says. Run: npm run tiers']),
    ],
    `docs/tiers.md has the results of ${found.version}`,
  );
}

/** @param {Role} role @param {string} revision @param {boolean} required @returns {Row} */
function measure(role, revision, required) {
  const { client, server } = JSON.parse(readFileSync(join(root, 'test/conformance/sdk.json'), 'utf8'));
  const folder = join(results, 'tiers', role, revision);
  mkdirSync(folder, { recursive: true });
  const { scored, others } = scenariosOf(role, revision, required);
  suite([
    ...['sdk', '--path', root, '--skip-build', '--mode', role, '-o', folder],
    ...['--client-cmd', client.command, '--server-cmd', server.command, '--server-url', server.url],
    ...(required ? ['--requirements', revision] : ['--suite', 'all', '--spec-version', revision]),
  ]);
  const checks = checksIn(folder);
  const having = (/** @type {string} */ status) =>
    scored.flatMap((name) => checks.get(name) ?? []).filter((one) => one.status === status).length;
  return {
    role,
    revision,
    required,
    total: scored.length,
    failed: scored.filter((name) => !passes(checks.get(name))),
    checks: having('SUCCESS'),
    warnings: having('WARNING'),
    others: { total: others.length, failed: others.filter((name) => !passes(checks.get(name))) },
  };
}

/**
 * A scenario passes as the suite counts it: it was run, and no check failed.
 * @param {{ status: string }[] | undefined} checks
 */
function passes(checks) {
  return checks !== undefined && checks.length > 0 && checks.every(({ status }) => status !== 'FAILURE');
}

/**
 * The scenarios that count for a role, and those that are only reported.
 * @param {Role} role @param {string} revision @param {boolean} required
 */
function scenariosOf(role, revision, required) {
  const title = role === 'server' ? 'Server' : 'Client';
  if (!required) {
    const listed = suite(['list', `--${role}`, '--spec-version', revision]);
    return { scored: [...listed.matchAll(/^ *- (\S+) \[/gm)].map(([, name = '']) => name), others: [] };
  }
  const [counted = '', reported = ''] = suite(['list', '--requirements', revision]).split('never scored:');
  const section =
    counted.split(/^(?=\w+ scenarios )/m).find((part) => part.startsWith(`${title} scenarios`)) ?? '';
  return {
    scored: [...section.matchAll(/^ *- (\S+)$/gm)].map(([, name = '']) => name),
    others: [...reported.matchAll(/^ *- (\S+) \[(\w+)\]$/gm)].flatMap(([, name = '', leg]) =>
      leg === role ? [name] : [],
    ),
  };
}

/** The checks of each scenario, from the files that the suite wrote. @param {string} folder */
function checksIn(folder) {
  /** @type {Map<string, { status: string }[]>} */
  const found = new Map();
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (basename(file) !== 'checks.json') continue;
    const scenario = dirname(file)
      .replace(/^(?:server|client)-/, '')
      .replace(/-\d{4}-\d\d-\d\dT[^T]*Z$/, '');
    found.set(scenario, JSON.parse(readFileSync(join(folder, file), 'utf8')));
  }
  return found;
}

/** @param {string[]} args */
function suite(args) {
  // The programs under test run on the Node at hand, which must be found first.
  const env = {
    ...process.env,
    NO_COLOR: '1',
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
  };
  const { stdout, stderr, error } = spawnSync(node, [cli, ...args], {
    cwd: root,
    encoding: 'utf8',
    env,
    maxBuffer: 1e8,
    timeout: 900_000,
  });
  if (error !== undefined) throw error;
  if (stdout === '') throw new Error(`The suite printed nothing:\n${stderr}`);
  return stdout;
}

/** @param {string} command @param {string[]} args */
function run(command, args) {
  if (spawnSync(command, args, { cwd: root, stdio: ['ignore', process.stderr, process.stderr] }).status !== 0)
    process.exit(1);
}

/** @param {Row} row */
function scoreOf({ total, failed, checks, warnings }) {
  return `${total - failed.length} of ${total} scenarios, ${checks} checks, ${warnings} warnings`;
}

/** @param {Found} found */
function pageOf(found) {
  const [head = ''] = (existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '').split(MARK);
  return `${head}${MARK}\n\n${[resultsOf(found), rulesOf(found)].join('\n\n')}\n`;
}

/** @param {Found} found */
function resultsOf({ version, sha256, commit, date, suite, node, rows }) {
  const origin = commit === undefined ? 'a tarball' : `packed from commit \`${commit}\``;
  return [
    '## Results',
    '',
    `fullmcp ${version}, ${origin} with the SHA-256 \`${sha256}\`, on ${date}; suite \`@modelcontextprotocol/conformance\` ${suite}; the tested programs ran on Node ${node}.`,
    '',
    '| revision | role | set | scenarios passed | checks passed | warnings | extensions and late additions, never counted |',
    '|---|---|---|---|---|---|---|',
    ...rows.map(
      (row) =>
        `| ${row.revision} | ${row.role} | ${row.required ? 'required' : 'all that apply: the suite has no required set for it'} | ${row.total - row.failed.length} of ${row.total}${list(row.failed)} | ${row.checks} | ${row.warnings} | ${row.required ? `${row.others.total - row.others.failed.length} of ${row.others.total}${list(row.others.failed)}` : '–'} |`,
    ),
  ].join('\n');
}

/** @param {string[]} failed */
function list(failed) {
  return failed.length === 0 ? '' : ` (not: ${failed.join(', ')})`;
}

/** @param {Found} found */
function rulesOf({ rows, version }) {
  const isStable = !version.includes('-') && !version.startsWith('0.');
  const hasContact = !readFileSync(join(root, 'SECURITY.md'), 'utf8').includes(PLACEHOLDER);
  const passed = (/** @type {boolean} */ isRequired) =>
    rows.filter(({ required }) => required || !isRequired).every(({ failed }) => failed.length === 0);
  const stable = isStable ? ['met', `${version}`] : ['not met', `${version} is a candidate`];
  const contact = hasContact
    ? ['met', '[SECURITY.md](../SECURITY.md)']
    : ['not met', '[SECURITY.md](../SECURITY.md) has times and scope, but its address is a placeholder'];
  const table = (/** @type {string[][]} */ lines) => [
    '| asked | state | evidence |',
    '|---|---|---|',
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
  ];
  return [
    '## Tier 1 by SEP-3405',
    '',
    ...table([
      [
        'every required scenario as a server and as a client, on the three newest revisions',
        passed(false) ? 'met' : 'not met',
        'the table above',
      ],
      ['results of the stable release with the highest number', ...stable],
      [
        'the automated run can build and start the programs',
        'met',
        '`test/conformance/sdk.json`, which the command on this page uses',
      ],
      ['to be listed: at least one stable release', ...stable],
      ['to be listed: a security policy with a contact', ...contact],
    ]),
    '',
    '## Tier 1 by SEP-1730',
    '',
    '<!-- limit: until 2027-03 a public repository will show the rest -->',
    ...table([
      ['all conformance tests of the revision pass', passed(true) ? 'met' : 'not met', 'the table above'],
      [
        'new features before a revision is released',
        'to be shown',
        'no revision was released since the first version; [Support](support.md#revisions-of-the-protocol) has the plan',
      ],
      [
        'issues are triaged within 2 business days',
        'to be shown',
        'promised in [MAINTAINERS.md](../MAINTAINERS.md); there is no public tracker to measure',
      ],
      [
        'critical bugs are resolved within 7 days',
        'to be shown',
        'promised in [MAINTAINERS.md](../MAINTAINERS.md) and [SECURITY.md](../SECURITY.md)',
      ],
      [
        'labels with the standard names',
        'to be shown',
        '[MAINTAINERS.md](../MAINTAINERS.md) names them; there is no public repository to have them',
      ],
      ['a stable release', ...stable],
      [
        'clear versioning',
        'met',
        '[Semantic versioning](semver.md), [Stability](stability.md), [changelog](../CHANGELOG.md)',
      ],
      [
        'documentation with examples for all features',
        'met, by our own reading',
        'every program in these pages is a tested file; the decision is that of the SDK Working Group',
      ],
      [
        'a published policy for dependencies',
        'met',
        '[Support](support.md#dependencies), [Dependencies](dependencies.md)',
      ],
      ['a published roadmap', 'met', '[Support](support.md#what-comes-next)'],
    ]),
  ].join('\n');
}
