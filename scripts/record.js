// Writes records from the log of a run elsewhere, such as one of `bash .ci/run`: node scripts/record.js --log ci.log --commit 8ad417ca
// Names after it select harnesses: node scripts/record.js coverage --log coverage.log --commit …
// --date and --node say when and on which Node the run was. Default: the day of the file, and the Node that runs this script.
import { readFileSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readPages } from './files.js';
import { keyOf, marksOf, testsIn } from './promises.js';
import { readLog, recordPromises, recordSuites, suiteOf, textAt, writeRecord } from './records.js';

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    log: { type: 'string' },
    commit: { type: 'string' },
    date: { type: 'string' },
    node: { type: 'string' },
  },
});
const source = options.log;
if (source === undefined || options.commit === undefined) {
  console.error('Pass --log with a file, and --commit with the commit that ran.');
  process.exit(2);
}
const origin = {
  commit: options.commit,
  date: options.date ?? statSync(source).mtime.toISOString().slice(0, 10),
  node: options.node ?? process.version,
};
const isWanted = (/** @type {string} */ name) => wanted.length === 0 || wanted.includes(name);

recordLog(readFileSync(source, 'utf8'));

/** @param {string} log */
function recordLog(log) {
  const { suites, records } = readLog(log);
  const files = suites.filter(({ project }) => isWanted(suiteOf(project)));
  const [onNewest, onOwn] = split(files, ({ project }) => isOnNewest(suiteOf(project), log));
  recordSuites(onOwn, {}, origin);
  recordSuites(onNewest, {}, { ...origin, node: newest() });
  recordPromises(namedIn(files), origin);
  for (const { name, command, figures } of records.filter(({ name }) => isWanted(name))) {
    const node = command.includes('npm run') && isOnNewest(name, log) ? newest() : origin.node;
    writeRecord(name, { command: command.replace(/^timeout \d+ /, ''), figures }, { ...origin, node });
  }
  if (files.length === 0 && records.length === 0) {
    console.error(`${source} has no figures${wanted.length > 0 ? ` of ${wanted.join(', ')}` : ''}.`);
    process.exitCode = 1;
  }
}

/**
 * Whether .ci/run took the newest Node, which the conformance suite brings: always for these two, and from the lane engines on if it ran all lanes.
 * @param {string} name
 * @param {string} log
 */
function isOnNewest(name, log) {
  if (/^(chaos|stacks)$/.test(name)) return log.includes('\n== ');
  return !/^(test|types|oldest)$/.test(name) && /^== quick engines page took/m.test(log);
}

/**
 * @template T
 * @param {readonly T[]} list
 * @param {(each: T) => boolean} isFirst
 */
function split(list, isFirst) {
  return [list.filter(isFirst), list.filter((each) => !isFirst(each))];
}

/**
 * The named tests that the commit had, in files of which every test has passed. A table of tests has passed if all files that import it have.
 * @param {readonly import('./records.js').FileResult[]} files
 */
function namedIn(files) {
  const texts = new Map(files.map(({ file }) => [file, textAt(origin.commit, file) ?? '']));
  const whole = new Set(
    files.filter(({ skipped, failed }) => skipped + failed === 0).map(({ file }) => file),
  );
  const marks = [...readPages().values()].flatMap(marksOf);
  return Object.fromEntries(
    marks.flatMap(({ file = '', name = '' }) => {
      const imported = `/${file.replace(/^.*\/|\.ts$/g, '')}.js'`;
      const users = texts.has(file)
        ? [file]
        : [...texts.keys()].filter((each) => texts.get(each)?.includes(imported));
      const has = testsIn(textAt(origin.commit, file) ?? '').some((test) => test.name === name);
      return has && users.length > 0 && users.every((each) => whole.has(each))
        ? [[keyOf(file, name), 'passed']]
        : [];
    }),
  );
}

function newest() {
  const lock = JSON.parse(
    readFileSync(new URL('../test/conformance/package-lock.json', import.meta.url), 'utf8'),
  );
  return `v${lock.packages['node_modules/node'].version}`;
}
