// Writes docs/how-it-is-tested.md from the records of the test harnesses, and from the promises that pages make. --check fails if the page
// is not what this script writes, or if a record is of a commit that is not part of this history; --release also if it is older than the
// last release, or if a promise was never recorded.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { conclude, filesUnder, readPages, root } from './files.js';
import { checkPromises, keyOf } from './promises.js';
import { commitProblem, readRecords, short } from './records.js';

const PAGE = 'docs/how-it-is-tested.md';

/** @typedef {import('./records.js').Record} Record */

/** The harnesses in the order of the page. @type {{ name: string, what: string, about: string, says?: (figures: any) => string }[]} */
const HARNESSES = [
  {
    name: 'test',
    what: 'unit tests, flows, examples',
    about: 'needs nothing but Node',
  },
  {
    name: 'long',
    what: 'long flows',
    about: 'many streams, random rules, compilers, processes that are started and killed',
  },
  { name: 'engines', what: 'engines', about: 'real Postgres, Redis and NATS, started by the tests' },
  {
    name: 'peers',
    what: 'peers',
    about: 'other implementations from npm, in both roles, and the programs of the migration pages',
  },
  {
    name: 'flows',
    what: 'flows with middleware',
    about: 'flow tests once more, with every middleware on every server',
  },
  { name: 'inspector', what: 'inspector', about: 'its page in Chromium, with hostile servers' },
  { name: 'browser', what: 'browser', about: 'the client, logins and apps in Chromium' },
  {
    name: 'types',
    what: 'packed package',
    about: 'installed in an empty folder; its types with two compilers',
  },
  {
    name: 'oldest',
    what: 'oldest Node',
    about: 'the library and the command on exactly the version in `engines`',
  },
  {
    name: 'runtimes',
    what: 'runtimes',
    about: 'workerd, Deno and Bun, with the programs of the deployment page',
  },
  {
    name: 'conformance',
    what: 'official conformance suite',
    about: 'every scenario that the suite has, as a server and as a client',
    says: ({ warnings, ...roles }) =>
      `${Object.entries(roles)
        .map(
          ([role, revisions]) =>
            `${role} ${Object.entries(revisions)
              .map(([revision, { passed, scenarios }]) => `${passed} of ${scenarios} (${revision})`)
              .join(', ')}`,
        )
        .join('; ')}; ${warnings} warnings`,
  },
  {
    name: 'chaos',
    what: 'chaos',
    about: 'replicas that are killed, ended and paused under load, on each engine',
    says: ({ engines }) => {
      const sum = (/** @type {string[]} */ ...names) =>
        Object.values(engines).reduce(
          (all, figures) => all + names.reduce((some, name) => some + (figures[name] ?? 0), 0),
          0,
        );
      return `${Object.keys(engines).length} engines, ${count(sum('SIGKILL', 'SIGTERM', 'SIGSTOP'))} strikes (${sum('SIGKILL')} × \`kill -9\`), ${count(sum('jobs', 'payments', 'calls', 'questions', 'reads', 'intrusions'))} operations checked: ${sum('lost', 'unheard')} lost, ${sum('doubled', 'repeated')} done twice, ${sum('mixed', 'exposed')} seen by another caller; seeds ${Object.values(
        engines,
      )
        .map(({ seed }) => seed)
        .join(', ')}`;
    },
  },
  {
    name: 'chaos',
    what: 'events',
    about:
      'events that are emitted and delivered while publishers, workers, receivers and engines are killed',
    says: ({ events = {} }) => {
      const all = Object.values(events);
      const sum = (/** @type {string} */ name) =>
        all.reduce((some, figures) => some + (figures[name] ?? 0), 0);
      return all.length === 0
        ? 'since the last record'
        : `${all.length} engines, ${count(sum('events'))} events, ${count(sum('deliveries'))} deliveries: ${sum('lost')} lost, ${sum('doubled')} told twice, ${sum('disordered')} out of order`;
    },
  },
  {
    name: 'chaos',
    what: 'simulated clusters',
    about: 'whole clusters in one process, each from a seed, with lost messages, pauses and failing stores',
    says: ({ simulation: { seeds, failures, hours } }) =>
      `seeds 1 to ${count(seeds)} (${hours} simulated hours): ${failures} failures`,
  },
  {
    name: 'stacks',
    what: 'random stacks',
    about: 'gateways, proxies, mounts and middleware on top of each other, with three callers',
    says: ({ stacks, failures }) => `seeds 1 to ${count(stacks)}: ${failures} failures`,
  },
  {
    name: 'coverage',
    what: 'coverage',
    about: 'of `src`, by the suites that run in this process; CI refuses less than 95 % of lines',
    says: ({ lines, branches, functions }) =>
      `${lines.percent} % of lines, ${branches.percent} % of branches, ${functions.percent} % of functions`,
  },
];

/** The subjects of the folders of `npm test`. @type {{ [folder: string]: string }} */
const FOLDERS = {
  unit: 'one file for each module',
  flows: 'scenarios over several transports and revisions',
  examples: 'every program of README and of the guides',
  cli: 'the command, as a process',
  inspector: 'the part of the inspector that runs in Node',
  openapi: 'servers from OpenAPI documents, and documents from servers',
  fuzz: 'hostile bytes for parsers and endpoints',
  types: 'inference',
  limits: 'limitations that a page names: each test fails when its feature arrives',
};

const FAILURES = [
  '- **Processes** are killed, ended and paused in the middle of calls, steps, questions and writes, and others take over.',
  '- **Connections** break before, inside and after a response, stall, deliver twice, or deliver half: with faults that a seed repeats.',
  '- **Peers lie**: responses with wrong ids, wrong types, wrong revisions; endless streams and bodies; servers that flood, and clients that do not read.',
  '- **Stores** fail, lose their lease, fill their disk, and run on clocks that jump.',
  '- **Defects are planted** in the simulated clusters, and a test requires that each of them is found. `node test/stacks/run.js --defects` does the same for stacks.',
].join('\n');

/** Nobody can test what is not tested, so the section is read again now and then. */
const LOOK_AGAIN = '<!-- limit: until 2027-05 read the section again -->';
const NOT_TESTED = [
  '- **Hosts.** Claude Desktop, ChatGPT, Cursor and VS Code are not started by any test. Tests send what such clients were seen to send.',
  `  ${LOOK_AGAIN}`,
  '- **Providers.** Auth0, Entra ID, Google and the others are stood in for by servers that behave as their documentation says. A real OpenID provider from npm is among the peers.',
  `  ${LOOK_AGAIN}`,
  '- **Systems.** The records are of Linux. The workflow also runs `npm test` on macOS and Windows, and everything else on Linux only.',
  `  ${LOOK_AGAIN}`,
  '- **Platforms.** Vercel, Fly, Cloud Run, Lambda and Workers are not deployed to; workerd, Deno and Bun run on one machine, by hand.',
  `  ${LOOK_AGAIN}`,
  '- **Days.** The longest run of one process takes minutes. Hours of fuzzing and weeks of uptime are not part of CI; the simulation stands in for time, not for wear.',
  `  ${LOOK_AGAIN}`,
  '- **Your network.** Proxies, load balancers and firewalls between client and server are imitated where they are known to misbehave, and not otherwise.',
  `  ${LOOK_AGAIN}`,
].join('\n');

process.chdir(root);
const isCheck = process.argv.includes('--check');
const release = process.argv.includes('--release');
const records = readRecords();
/** @type {string[]} */
const failures = [];
const { found } = checkPromises({
  pages: new Map([...readPages()].filter(([name]) => name !== PAGE)),
  read: (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined),
  limitTests: filesUnder('test/limits'),
  month: '',
});
const promised = found.filter(({ mark }) => mark.kind === 'promise');
const limited = found.filter(({ mark }) => mark.kind === 'limit');

const text = page();
if (!isCheck) {
  writeFileSync(PAGE, text);
  console.log(`wrote ${PAGE}`);
} else {
  if (!existsSync(PAGE) || readFileSync(PAGE, 'utf8') !== text)
    failures.push(`${PAGE} is not what the records say. Run: node scripts/tested.js`);
  for (const [name, record] of records) checkRecord(name, record);
  conclude(failures, `${records.size} records are of this history, and ${PAGE} shows them`);
}

/** @param {string} name @param {Record} record */
function checkRecord(name, { commit, figures }) {
  if (name === 'promises') {
    const commits = new Set(Object.values(figures).map((each) => each.commit));
    for (const each of commits) report(commitProblem(each, { release }));
    const never = promised.filter(({ mark }) => mark.file?.startsWith('test/') && !lastOf(mark));
    if (release)
      for (const { page, mark } of never)
        failures.push(`${page}:${mark.line} names a test that no record has.`);
  } else report(commitProblem(commit, { release }));

  function report(/** @type {string | undefined} */ problem) {
    if (problem !== undefined)
      failures.push(
        `records/${name}.json ${problem}. Run it again with RECORD=1, or read it from a log with scripts/record.js.`,
      );
  }
}

function page() {
  const all = [...records].filter(([name]) => name !== 'promises').map(([, record]) => record);
  const tests = all.reduce((sum, { figures }) => sum + (figures.tests ?? 0), 0);
  return `${[
    '# How fullmcp is tested',
    'Records of real runs, which the repository keeps in `records`, are the source of this page: `scripts/tested.js` writes it. A record names its commit, and a check refuses one that is not part of the history. A run with a failed test is not recorded: its harness keeps the record of the last run that passed. No figure on this page is typed by hand.',
    `The suites below ran **${count(tests)} tests**. Every program in README and in the guides is one of the files that they run.`,
    '## Harnesses',
    table(
      ['what', 'command', 'result', 'commit, date, Node'],
      HARNESSES.flatMap((harness) => {
        const record = records.get(harness.name);
        return [record === undefined ? missingRow(harness) : rowOf(harness, record)];
      }),
    ),
    suites(),
    '## How failures are made',
    FAILURES,
    mutations(),
    '## Promises and their tests',
    `${groupedPromises().length} promises of README and of the guides name ${promised.length} tests and figures that would fail if they were broken. A check compares the names with the tests, so a test cannot be removed or renamed while a page relies on it.`,
    table(
      ['promise', 'page', 'test', 'last green'],
      groupedPromises().map(({ page, block, marks }) => [
        titleOf(block.text),
        linkTo(page),
        marks.map(testOf).join('<br>'),
        [...new Set(marks.map(greenOf))].join('<br>'),
      ]),
    ),
    '## Rough edges and their tests',
    limitations(),
    '## Not tested',
    NOT_TESTED,
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`;
}

/** @param {typeof HARNESSES[number]} harness @param {Record} record */
function rowOf({ what, about, says = suiteLine }, { command, commit, date, node, figures }) {
  return [
    `**${what}**: ${about}`,
    // The files that a run was restricted to are in its record.
    `\`${command.replace(/ -- test\/.*/, ' -- …')}\``,
    says(figures),
    `\`${short(commit)}\`, ${date}, ${node.replace(/^v(\d+\.\d+).*/, '$1')}`,
  ];
}

/** @param {typeof HARNESSES[number]} harness */
function missingRow({ name, what, about }) {
  return [`**${what}**: ${about}`, `\`npm run ${name}\``, 'no record of a run that passed', ''];
}

/** @param {{ files: number, tests: number, skipped: number, failed: number }} figures */
function suiteLine({ files, tests, skipped, failed }) {
  const rest = [skipped > 0 && `${skipped} skipped`, failed > 0 && `**${failed} failed**`].filter(Boolean);
  return [`${count(tests)} tests in ${count(files)} ${files === 1 ? 'file' : 'files'}`, ...rest].join(', ');
}

function suites() {
  const folders = records.get('test')?.figures.folders;
  if (folders === undefined) return '';
  const rows = Object.entries(folders).filter(([name]) => name in FOLDERS);
  return [
    'Of these, `npm test` has:',
    table(
      ['folder of `test`', 'files', 'tests', 'what'],
      rows.map(([name, { files, tests }]) => [
        `\`${name}\``,
        count(files),
        count(tests),
        FOLDERS[name] ?? '',
      ]),
    ),
  ].join('\n\n');
}

function mutations() {
  const record = records.get('mutation');
  if (record === undefined) return '';
  return [
    '## Mutations',
    `The code of these rooms was changed in small ways, one place at a time, and the unit tests of the room had to notice (\`${short(record.commit)}\`, ${record.date}; \`npm run mutation\`). Where not all lines were changed, those that were are drawn by a seed.`,
    table(
      ['room', 'changed', 'noticed', 'survived', 'score'],
      Object.entries(record.figures).map(([room, { killed, survived, score, sample }]) => [
        `\`${room}\``,
        sample === undefined
          ? 'all lines'
          : `${count(sample.changed)} of ${count(sample.lines)} lines, seed ${sample.seed}`,
        count(killed),
        count(survived),
        `${score} %`,
      ]),
    ),
  ].join('\n\n');
}

function limitations() {
  const dated = limited.filter(({ mark }) => mark.until !== undefined);
  const next = dated.map(({ mark }) => mark.until ?? '').sort()[0];
  return `The pages admit ${limited.length} limitations. ${limited.length - dated.length} of them name a test that passes while the limitation holds, and fails when it is gone; the others have a date by which somebody must look again${next === undefined ? '' : `, the next one in ${next}`}. [Rough edges](rough-edges.md) has most of them.`;
}

/** The promises with all their tests. */
function groupedPromises() {
  /** @type {Map<object, { page: string, block: import('./promises.js').Block, marks: import('./promises.js').Mark[] }>} */
  const groups = new Map();
  for (const { page, block, mark } of promised) {
    const group = groups.get(block) ?? { page, block, marks: [] };
    group.marks.push(mark);
    groups.set(block, group);
  }
  return [...groups.values()];
}

/** The bold words of a promise, or its first sentence. @param {string} text */
function titleOf(text) {
  const prose = text
    .replace(/^\s*(?:[-*]|\d+\.) |^\| */, '')
    .replaceAll('\n', ' ')
    .replace(/\s+/g, ' ');
  // Bold words that are only the subject of a sentence are not a title.
  const bold = /^\*\*(.+?[.:]\*\*|.+?\*\*(?=:| \())/.exec(prose)?.[1]?.replace('**', '');
  const first = (bold ?? /^.*?[.:](?= |$)/.exec(prose)?.[0] ?? prose).replace(/[.:]$/, '');
  return first
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replaceAll('|', ' ')
    .trim()
    .slice(0, 160);
}

/** @param {string} page */
function linkTo(page) {
  const path = page.startsWith('docs/') ? page.slice(5) : `../${page}`;
  return `[${page.replace(/^docs\/|\.md$/g, '')}](${path})`;
}

/** @param {import('./promises.js').Mark} mark */
function testOf({ file = '', name = '' }) {
  return `\`${file.replace(/^test\/|\.test\.ts$/g, '')}\`: ${name.replaceAll('|', ' ').replace(/[<>`*_$]/g, (sign) => (sign === '>' ? '›' : `\\${sign}`))}`;
}

/** @param {import('./promises.js').Mark} mark */
function lastOf({ file = '', name = '' }) {
  return records.get('promises')?.figures[keyOf(file, name)];
}

/** @param {import('./promises.js').Mark} mark */
function greenOf(mark) {
  if (mark.file?.startsWith('scripts/')) return 'each `npm run check`';
  if (mark.file?.startsWith('records/')) return 'see above';
  const last = lastOf(mark);
  return last === undefined ? 'not recorded' : `\`${short(last.commit)}\`, ${last.date}`;
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** @param {number} value */
function count(value) {
  return value.toLocaleString('en-US');
}
