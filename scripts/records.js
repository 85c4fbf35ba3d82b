// The results of the last run of each test harness: records/<name>.json, with the commit, the date and the figures. A harness writes its
// record if RECORD is set; record.js reads records from the log of a run elsewhere. tested.js makes a page of them.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesUnder, root } from './files.js';

/**
 * @typedef {object} Record
 * @property {string} command
 * @property {string} commit
 * @property {string} date
 * @property {string} node
 * @property {any} figures
 */

/**
 * @typedef {{ project: string, file: string, tests: number, skipped: number, failed: number }} FileResult
 * @typedef {{ commit: string, date: string, node: string }} Origin
 */

/** The suites of vitest.config.ts that one command runs together. */
const SUITES = {
  alone: 'test',
  quick: 'test',
  'engines-alone': 'engines',
  'inspector-alone': 'inspector',
  'long-alone': 'long',
};
/** Readers of the figures that a harness prints at its end. @type {{ [name: string]: (text: string) => any }} */
const READERS = {
  chaos: chaosFigures,
  conformance: conformanceFigures,
  stacks: stacksFigures,
  coverage: coverageFigures,
  mutation: mutationFigures,
};

/** The folder of the records; RECORDS names another. */
export function recordsFolder() {
  return process.env.RECORDS ?? join(root, 'records');
}

/** All records by name. @returns {Map<string, Record>} */
export function readRecords() {
  const files = filesUnder(recordsFolder()).filter((file) => file.endsWith('.json'));
  return new Map(
    files.map((file) => [file.replace(/^.*\/|\.json$/g, ''), JSON.parse(readFileSync(file, 'utf8'))]),
  );
}

/**
 * @param {string} name
 * @param {Omit<Record, keyof Origin>} record
 * @param {Origin} [origin]
 */
export function writeRecord(name, { command, figures }, origin = originHere()) {
  mkdirSync(recordsFolder(), { recursive: true });
  const { commit, date, node } = origin;
  const text = JSON.stringify({ command, commit, date, node, figures }, undefined, 2);
  writeFileSync(join(recordsFolder(), `${name}.json`), `${text}\n`);
  console.log(`recorded ${name}`);
}

/** Writes the record of a harness from the last lines that it has printed. @param {string} name @param {string} text */
export function recordText(name, text) {
  const figures = READERS[name]?.(text);
  if (figures === undefined) throw new Error(`The output of ${name} has no figures.`);
  writeRecord(name, { command: `npm run ${name}`, figures });
}

/**
 * Writes the records of suites, and the results of the tests that pages name.
 * @param {readonly FileResult[]} results
 * @param {{ [key: string]: string }} named The result of each named test, by its key.
 * @param {Origin} [origin]
 */
export function recordSuites(results, named, origin = originHere()) {
  for (const [name, files] of grouped(results, ({ project }) => suiteOf(project))) {
    // A harness that prints figures of its own.
    if (name in READERS) continue;
    const failed = files.reduce((sum, file) => sum + file.failed, 0);
    if (failed > 0) {
      console.error(`${name} is not recorded, because ${failed} of its tests failed.`);
      process.exitCode = 1;
      continue;
    }
    writeRecord(
      name,
      { command: name === 'test' ? 'npm test' : `npm run ${name}`, figures: suiteFigures(files) },
      origin,
    );
  }
  recordPromises(named, origin);
}

/** @param {{ [key: string]: string }} named @param {Origin} [origin] */
export function recordPromises(named, origin = originHere()) {
  if (Object.keys(named).length === 0) return;
  const known = readRecords().get('promises')?.figures ?? {};
  const { commit, date } = origin;
  const entries = Object.entries(named).map(([key, result]) => [key, { result, commit, date }]);
  const figures = Object.fromEntries(
    Object.entries({ ...known, ...Object.fromEntries(entries) }).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  writeRecord('promises', { command: 'the tests that pages name', figures }, origin);
}

/** The name of the record for a suite of vitest.config.ts. @param {string} project @returns {string} */
export function suiteOf(project) {
  return SUITES[/** @type {keyof typeof SUITES} */ (project)] ?? project;
}

/**
 * @template T
 * @param {readonly T[]} list
 * @param {(each: T) => string} keyOf
 * @returns {Map<string, T[]>}
 */
function grouped(list, keyOf) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const each of list) {
    const group = groups.get(keyOf(each));
    if (group === undefined) groups.set(keyOf(each), [each]);
    else group.push(each);
  }
  return groups;
}

/** @param {readonly FileResult[]} files */
function suiteFigures(files) {
  const sum = (/** @type {readonly FileResult[]} */ some) => ({
    files: some.length,
    tests: some.reduce((count, { tests }) => count + tests, 0),
    skipped: some.reduce((count, { skipped }) => count + skipped, 0),
    failed: some.reduce((count, { failed }) => count + failed, 0),
  });
  const folders = grouped(files, ({ file }) => file.split('/')[1] ?? '');
  return {
    ...sum(files),
    folders: Object.fromEntries(
      [...folders].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, some]) => [name, sum(some)]),
    ),
  };
}

/**
 * The records that a log has: of the suites of Vitest whose files all ran, and of the other harnesses.
 * @param {string} log
 * @returns {{ suites: FileResult[], records: { name: string, command: string, figures: any }[] }}
 */
export function readLog(log) {
  /** @type {FileResult[]} */
  const suites = [];
  const records = [];
  for (const { command, text } of stepsOf(log)) {
    const files = filesIn(text, command);
    if (files.length > 0 && isWhole(command)) suites.push(...files);
    else if (files.length > 0 && command.includes('npm run flows')) {
      records.push({ name: 'flows', command, figures: suiteFigures(files) });
    }
    for (const [name, read] of Object.entries(READERS)) {
      const figures = read(text);
      if (figures !== undefined) records.push({ name, command: command || `npm run ${name}`, figures });
    }
  }
  return { suites, records };
}

/** The steps of .ci/run; a log without them is one step. @param {string} log */
function stepsOf(log) {
  /** @type {{ command: string, text: string }[]} */
  const steps = [{ command: '', text: '' }];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with one.
  for (const line of log.replace(/\u001b\[[0-9;]*m/g, '').split('\n')) {
    const step = /^== (.*?)(?: took \d+ s)?$/.exec(line);
    const last = steps.at(-1);
    if (step !== null && !line.endsWith(' s')) steps.push({ command: step[1] ?? '', text: '' });
    else if (last !== undefined) last.text += `${line}\n`;
  }
  return steps;
}

/** Whether a command runs all files of its suites. @param {string} command */
function isWhole(command) {
  const [, more] = command.split(/vitest run| -- (?!vitest)/);
  return (more ?? '').split(' ').every((word) => word === '' || /^--(?:project|maxWorkers)=/.test(word));
}

/** @param {string} text @param {string} command @returns {FileResult[]} */
function filesIn(text, command) {
  const own = /npm run (\w+)/.exec(command)?.[1] ?? 'test';
  const line = /^ [✓❯×↓] +(?:(\S+) +)?(test\/\S+\.test\.ts) \((\d+) tests?((?: \| \d+ \w+)*)\)/gm;
  const files = [...text.matchAll(line)].map(([, project = own, file = '', tests = '0', more = '']) => ({
    project,
    file,
    tests: Number(tests),
    skipped: Number(/(\d+) skipped/.exec(more)?.[1] ?? 0),
    failed: Number(/(\d+) failed/.exec(more)?.[1] ?? 0),
  }));
  const total = Number(/^ +Tests .*\((\d+)\)$/m.exec(text)?.[1]);
  const counted = files.reduce((sum, { tests }) => sum + tests, 0);
  if (files.length > 0 && isWhole(command) && total !== counted)
    throw new Error(
      `The log of "${command}" lists ${counted} tests, and Vitest says ${total}. Pass a whole log.`,
    );
  return files;
}

/** @param {string} text */
function chaosFigures(text) {
  if (!/^chaos: /m.test(text)) return undefined;
  const figuresOf = (/** @type {RegExp} */ lines) =>
    Object.fromEntries(
      [...text.matchAll(lines)].map(([, engine = '', line = '']) => {
        const figures = line.replace(/errors \{.*?\}/, '').matchAll(/([A-Za-z ]+?) (\d+)(?=[,;]|$)/g);
        return [
          engine,
          Object.fromEntries([...figures].map(([, what = '', count]) => [what.trim(), Number(count)])),
        ];
      }),
    );
  const engines = figuresOf(/^(postgres|redis|nats): (.*)$/gm);
  const events = figuresOf(/^events on (postgres|redis|nats|lmdb): (.*)$/gm);
  const [, seeds, failures] = /^simulation: seeds (\d+) failures (\d+)$/m.exec(text) ?? [];
  if (seeds === undefined) return undefined;
  const hours = [...text.matchAll(/\((\d+) simulated hours\)/g)].at(-1)?.[1];
  return {
    engines,
    events,
    simulation: { seeds: Number(seeds), failures: Number(failures), hours: Number(hours ?? 0) },
  };
}

/** @param {string} text */
function conformanceFigures(text) {
  const line = /^conformance: (.*); warnings (\d+)$/m.exec(text);
  if (line === null) return undefined;
  const roles = (line[1] ?? '').split('; ').map((part) => {
    const [role = '', ...rest] = part.split(' ');
    const revisions = [...rest.join(' ').matchAll(/(\d{4}-\d\d-\d\d) (\d+)\/(\d+)/g)];
    return [
      role,
      Object.fromEntries(
        revisions.map(([, revision, held, all]) => [
          revision,
          { passed: Number(held), scenarios: Number(all) },
        ]),
      ),
    ];
  });
  return { ...Object.fromEntries(roles), warnings: Number(line[2]) };
}

/** @param {string} text */
function stacksFigures(text) {
  const line = /^stacks: (\d+) failures (\d+)$/m.exec(text);
  return line === null ? undefined : { stacks: Number(line[1]), failures: Number(line[2]) };
}

/** @param {string} text */
function coverageFigures(text) {
  const lines = [
    ...text.matchAll(/^(Statements|Branches|Functions|Lines) +: +([\d.]+)% \( (\d+)\/(\d+) \)$/gm),
  ];
  if (lines.length < 4) return undefined;
  return Object.fromEntries(
    lines.map(([, what = '', percent, covered, all]) => [
      what.toLowerCase(),
      { percent: Number(percent), covered: Number(covered), all: Number(all) },
    ]),
  );
}

/** @param {string} text */
function mutationFigures(text) {
  if (!/^mutation: /m.test(text)) return undefined;
  const rooms = [
    ...text.matchAll(
      /^([\w/-]+): ([\d.]+) % \((\d+) of \d+ noticed, (\d+) not(?:; in (\d+) of (\d+) lines, drawn with the seed (\d+))?\)$/gm,
    ),
  ];
  return Object.fromEntries(
    rooms.map(([, room = '', score, killed, survived, changed, lines, seed]) => [
      room,
      {
        killed: Number(killed),
        survived: Number(survived),
        score: Number(score),
        ...(changed !== undefined && {
          sample: { changed: Number(changed), lines: Number(lines), seed: Number(seed) },
        }),
      },
    ]),
  );
}

/** The commit, the day and the runtime of a run in this checkout. @returns {Origin} */
function originHere() {
  const changed = git(
    'status',
    '--porcelain',
    '--untracked-files=no',
    '--',
    'src',
    'test',
    'bench',
    'package.json',
    ':!test/second-attempts.json',
  );
  if (changed === undefined) throw new Error('A record belongs to a commit, and this is not a repository.');
  if (changed !== '') throw new Error(`A record belongs to a commit. Commit these first:\n${changed}`);
  return {
    commit: git('rev-parse', 'HEAD') ?? '',
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
  };
}

/**
 * Why the commit of a record is not right here; undefined if it is, or if that cannot be known without the history.
 * @param {string | undefined} commit
 * @param {{ release?: boolean }} [options] Whether a record from before the last release is too old.
 */
export function commitProblem(commit, { release = false } = {}) {
  if (!commit || !/^[0-9a-f]{7,40}$/.test(commit)) return 'names no commit';
  const shallow = git('rev-parse', '--is-shallow-repository');
  if (shallow !== 'false') return undefined;
  if (git('cat-file', '-e', `${commit}^{commit}`) === undefined)
    return `is of the commit ${short(commit)}, which does not exist here`;
  if (git('merge-base', '--is-ancestor', commit, 'HEAD') === undefined)
    return `is of the commit ${short(commit)}, which is not part of this history`;
  const last = release ? lastRelease() : undefined;
  if (
    last !== undefined &&
    last !== git('rev-parse', commit) &&
    git('merge-base', '--is-ancestor', commit, last) !== undefined
  )
    return `is of the commit ${short(commit)}, which is older than the last release`;
  return undefined;
}

/** The commit of the last release before this commit; undefined if there was none. */
function lastRelease() {
  const tag = git('describe', '--tags', '--match', 'v*', '--abbrev=0', 'HEAD~1');
  return tag === undefined ? undefined : git('rev-parse', `${tag}^{commit}`);
}

/** The text of a file at a commit; undefined if it did not exist, or if the commit is not here. @param {string} commit @param {string} file */
export function textAt(commit, file) {
  return git('show', `${commit}:${file}`);
}

/** @param {string} commit */
export function short(commit) {
  return commit.slice(0, 8);
}

/** The output of git, or undefined if it fails. @param {...string} args */
function git(...args) {
  if (!existsSync(join(root, '.git'))) return undefined;
  try {
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}
