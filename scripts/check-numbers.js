// Checks that the figures in README and in the pages are those of the recorded runs in bench/results.json, that the pages give the day of
// the run, and that each run that bench has recorded was of a commit of this history; with --release, of one since the last release.
// --write puts the recorded figures into the pages. --root <folder> checks another project.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { conclude, readManifest, readPages, root } from './files.js';
import { commitProblem } from './records.js';

const RESULTS = 'bench/results.json';
/** The runs that have a file of their own. */
const ENGINES = 'bench/engines.json';
const PEERS = 'bench/peers.json';

/**
 * @typedef {object} Figures A table of figures.
 * @property {RegExp} head The first line of the table, wherever it is.
 * @property {string} [run] The part of the results; by default, the main run.
 * @property {{ [label: string]: string | readonly string[] }} rows The measure in the row that begins with the label: with one
 * name, our figure and that of the official SDK; with several, a range of ours.
 * @property {'value' | 'microseconds'} [figure]
 */

/** @type {readonly Figures[]} */
const TABLES = [
  {
    head: /^\| .*\| fullmcp \| official SDK \|$/m,
    rows: {
      'HTTP `tools/call`': 'HTTP tools/call, requests per CPU second, of bare node:http',
      'stdio, one call at a time': 'stdio, one call at a time, over a bare echo',
      'stdio, 1,000 calls': 'stdio, 1000 concurrent calls, messages/s of a bare echo',
      'client over HTTP': 'client, HTTP, 32 concurrent calls, calls/s of bare node:http',
      'client over stdio': 'client, stdio, 32 concurrent calls, calls/s of bare lines',
      'cold start': 'the same with zod schemas, over a bare echo that loads zod',
      'heap of an idle session': 'heap of an idle session',
    },
  },
  {
    head: /^\| .*\| fullmcp \| SDK v2 \|$/m,
    rows: {
      'HTTP `tools/call` with 50 tools': 'HTTP tools/call with 50 tools, of the same with one tool',
      'a call in the same process': 'in-process call, of printing and parsing its messages',
      'cold start': 'cold start to first response, over a bare echo',
    },
  },
  {
    head: /^\| credentials \| requests \|$/m,
    run: 'auth',
    rows: {
      'a JWT (RS256)': 'HTTP tools/call with a verified JWT (RS256), of the same without auth',
      'an API key': 'HTTP tools/call with an API key, of the same without auth',
      'a DPoP token': 'HTTP tools/call with a new DPoP proof (ES256), of the same without auth',
      'a JWT that is verified':
        'HTTP tools/call with a JWT that is verified each time, of the same without auth',
    },
  },
  {
    head: /^\| middleware \| adds \|$/m,
    run: 'middleware',
    figure: 'microseconds',
    rows: {
      'one that does nothing': 'a middleware that does nothing',
      '`errors`': ['errors', 'cache, a call that it does not keep'],
      '`circuitBreaker`': ['circuitBreaker, closed', 'retry', 'timing', 'outputBudget, small results'],
      '`concurrency`': ['concurrency', 'rateLimit, in memory', 'sizeLimit, parameters and results'],
      '`logging`,': [
        'logging, to a function',
        'telemetry, without an SDK',
        'policy, with one rule',
        'timeout',
      ],
      '`logging` with payloads': 'logging with payloads, to a function',
      '`cache`': ['cache, a result that it keeps', 'audit, to a function'],
      '`resilience`': 'resilience, with a policy that does nothing',
    },
  },
];

/** Sentences with figures: the numbers that the pattern captures, and those of the record. */
const SENTENCES = [
  {
    run: 'composition',
    pattern: /In the run of ([^,]+), .{0,80}?a proxy took ([\d.]+) times as much, a gateway ([\d.]+) times/,
    figures: [
      'a call through a proxy, CPU time of the proxy, of a direct call = 1',
      'a call through a gateway, CPU time of the gateway, of a direct call = 1',
    ],
  },
  {
    run: 'composition',
    pattern:
      /without reading them takes ([\d.]+) times as much, and round by round a proxy takes ([\d.]+) times/,
    figures: [
      'the same for a proxy of bare node:http, which reads nothing',
      'a call through a proxy, CPU time of a proxy of bare node:http = 1',
    ],
  },
  {
    run: 'composition',
    pattern: /Mounting costs nothing: ([\d.]+) times/,
    figures: ['a call of a server mounted two levels deep, CPU time of a direct one = 1'],
  },
];

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);

const {
  write,
  release,
  root: folder,
} = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    release: { type: 'boolean', default: false },
    root: { type: 'string', default: root },
  },
}).values;
process.chdir(folder);
const results = JSON.parse(readFileSync(RESULTS, 'utf8'));
const pages = readPages();
/** @type {string[]} */
const failures = [];
let count = 0;
for (const table of TABLES) checkTable(table);
for (const sentence of SENTENCES) checkSentence(sentence);
for (const [run, { date, commit }] of recordedRuns()) {
  const problem = commitProblem(commit, { release });
  if (problem !== undefined) failures.push(`${run} (${date}) ${problem}. Measure it again.`);
}
checkVersion();
conclude(failures, `${count} figures are those of the recorded runs`);

/** @param {typeof SENTENCES[number]} sentence */
function checkSentence({ run, pattern, figures }) {
  const recorded = results[run];
  const prose = [...pages].map(([page, text]) => ({ page, found: pattern.exec(text.replaceAll('\n', ' ')) }));
  const { page, found } = prose.find((each) => each.found !== null) ?? {};
  if (!found) {
    failures.push(`No page has the sentence ${pattern}. Correct scripts/check-numbers.js with it.`);
    return;
  }
  const shown = found.slice(1);
  const day = /^\d+ [A-Z]/.test(shown[0] ?? '') ? shown.shift() : undefined;
  if (day !== undefined && day !== dayOf(recorded.date))
    failures.push(`${page} has figures of ${day}, and the record is of ${dayOf(recorded.date)}.`);
  figures.forEach((what, i) => {
    const decimals = shown[i]?.split('.')[1]?.length ?? 0;
    const value = figuresOf(what, recorded, 'value')[0]?.toFixed(decimals);
    count++;
    if (value !== shown[i]) failures.push(`${page} says ${shown[i]}, and the record has ${value}: ${what}.`);
  });
}

/** Every run that bench has recorded, by its place. @returns {(readonly [place: string, run: { date: string, commit?: string }])[]} */
function recordedRuns() {
  const own = (/** @type {string} */ file) => /** @type {const} */ ([file, readRun(file)]);
  return [
    [`${RESULTS}: the main run`, results],
    ...Object.keys(results)
      .filter((part) => results[part]?.date)
      .map((part) => /** @type {[string, any]} */ ([`${RESULTS}: ${part}`, results[part]])),
    own(ENGINES),
    // This run needs a quiet machine for a while, so that only a release insists on its commit.
    ...(release ? [own(PEERS)] : []),
  ];
}

/** @param {string} file */
function readRun(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** The comparison names the version that it is about. */
function checkVersion() {
  const { version } = readManifest('.');
  const [page, text = ''] = [...pages].find(([name]) => name === 'docs/comparison.md') ?? [];
  const [, compared] = /^\| fullmcp \| ([\w.-]+) \|/m.exec(text) ?? [];
  if (compared === version) return;
  if (write && page !== undefined)
    writeFileSync(page, text.replace(/^\| fullmcp \| [\w.-]+ \|/m, `| fullmcp | ${version} |`));
  else
    failures.push(
      `docs/comparison.md does not compare ${version}. Run: node scripts/check-numbers.js --write`,
    );
}

/** @param {Figures} table */
function checkTable({ head, run, rows, figure = 'value' }) {
  const recorded = run === undefined ? results : results[run];
  const [page, text = ''] = [...pages].find(([, text]) => head.test(text)) ?? [];
  if (page === undefined) {
    failures.push(`No page has the table that begins with ${head}.`);
    return;
  }
  const lines = text.split('\n');
  const at = lines.findIndex((line) => head.test(line));
  const day = dayOf(recorded.date);
  const above = lines.slice(Math.max(0, at - 8), at).join('\n');
  if (!above.includes(day)) failures.push(`${page}:${at + 1} does not say that its figures are of ${day}.`);
  const seen = new Set();
  for (let i = at + 2; lines[i]?.startsWith('|'); i++) {
    const line = lines[i] ?? '';
    const label = Object.keys(rows).findLast((each) => line.startsWith(`| ${each}`));
    if (label === undefined) {
      failures.push(
        `${page}:${i + 1} has figures that ${RESULTS} does not have. Add the row to scripts/check-numbers.js.`,
      );
      continue;
    }
    seen.add(label);
    lines[i] = checkRow(`${page}:${i + 1}`, line, figuresOf(rows[label] ?? '', recorded, figure));
  }
  for (const label of Object.keys(rows))
    if (!seen.has(label)) failures.push(`${page} has no row "${label}".`);
  if (write) writeFileSync(page, lines.join('\n'));
  pages.set(page, lines.join('\n'));
}

/**
 * The figures of a row: ours and that of the others, or the smallest and the largest of a range.
 * @param {string | readonly string[]} names @param {any} recorded @param {'value' | 'microseconds'} figure
 * @returns {(number | undefined)[]}
 */
function figuresOf(names, recorded, figure) {
  const rowOf = (/** @type {string} */ name) =>
    recorded.budgets.find((/** @type {{ what: string }} */ row) => row.what.trim() === name);
  if (typeof names === 'string') {
    const row = rowOf(names);
    return [row?.[figure], row?.official].filter((value) => value !== undefined);
  }
  const values = names.map((name) => rowOf(name)?.[figure]);
  return [Math.min(...values), Math.max(...values)];
}

/**
 * Compares the figures of a row, as exactly as the page writes them, and returns the row with the recorded ones.
 * @param {string} place @param {string} line @param {(number | undefined)[]} expected
 */
function checkRow(place, line, expected) {
  const cut = line.indexOf('|', 1);
  const shown = [...line.slice(cut).matchAll(/\d+(?:\.\d+)?/g)].map(([text]) => text);
  // A range whose ends are written alike is one figure.
  const wanted = expected.slice(0, Math.max(1, shown.length));
  const texts = wanted.map((value, i) => value?.toFixed((shown[i] ?? '').split('.')[1]?.length ?? 0));
  const ends = expected.map((value) => value?.toFixed((shown[0] ?? '').split('.')[1]?.length ?? 0));
  count += shown.length;
  if (shown.length < expected.length && ends.some((end) => end !== ends[0]))
    failures.push(`${place} shows ${shown.join(' and ')}, and the record has ${ends.join(' to ')}.`);
  else if (!write && texts.some((text, i) => text !== shown[i]))
    failures.push(
      `${place} shows ${shown.join(' and ')}, and the record has ${texts.join(' and ')}. Run: node scripts/check-numbers.js --write`,
    );
  let i = 0;
  return line.slice(0, cut) + line.slice(cut).replace(/\d+(?:\.\d+)?/g, (text) => texts[i++] ?? text);
}

/** @param {string} date */
function dayOf(date) {
  const [year, month, day] = date.split('-').map(Number);
  return `${day} ${MONTHS[(month ?? 1) - 1]} ${year}`;
}
