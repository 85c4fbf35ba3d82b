// `npm run bench -- search`: a search over 10,000 tools, next to minisearch on the same tools and questions, and the start of such a
// server. --quick takes a fifth of the time.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import MiniSearch from 'minisearch';
import { readCatalogue, readQuestions } from '../../test/unit/protocol/search/catalogue.js';
import { isMet } from '../budgets.js';
import { about, interleaved } from '../numbers.js';

const RESULTS = fileURLToPath(new URL('../results.json', import.meta.url));
const DIST = process.env.FULLMCP_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));
const TOOLS = 10_000;
const TENANTS =
  `alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra
  tango uniform victor whiskey xray yankee zulu amber basalt cobalt`.split(/\s+/);

/** @param {readonly string[]} args */
export async function measureSearch(args) {
  const quick = args.includes('--quick');
  const { createServer, inProcess, tool } = await import(`${DIST}/index.js`);
  const { connect } = await import(`${DIST}/client.js`);
  const { toolSearch } = await import(`${DIST}/tools.js`);
  const tools = manyTools();
  const questions = [...readQuestions('tuned'), ...readQuestions('held out')].map(({ question }) => question);

  const definitions = Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, input: inputSchema, run: () => 'done' }),
    ]),
  );
  const options = { name: 'large', version: '1.0.0', tools: definitions, logger: () => undefined };
  const started = timed('createServer with 10,000 tools', () => createServer(options));
  const listed = await timedAsync('tools/list, all 20 pages, first time', () =>
    listAll(inProcess(started.value)),
  );
  const again = await timedAsync('tools/list, all 20 pages, again', () => listAll(inProcess(started.value)));
  const searching = createServer({ ...options, search: true });
  const call = inProcess(searching);
  const search = (query) => call('tools/call', { name: 'search_tools', arguments: { query } });
  const front = await timedAsync('tools/list with search, first time', () => call('tools/list'));
  const first = await timedAsync('first search_tools, with the index', () => search('weather'));
  const client = await connect(started.value);
  const found = await toolSearch(client);
  const mini = timed('minisearch, its index', () => miniSearch(tools));

  const each = async (run) => {
    const from = performance.now();
    for (const question of questions) await run(question);
    return { microseconds: (1000 * (performance.now() - from)) / questions.length };
  };
  const contenders = {
    fullmcp: () => each((question) => found.search(question)),
    search_tools: () => each(search),
    minisearch: () => each((question) => mini.value.search(question).slice(0, 5)),
  };
  // Twice, so that the code is optimized before the first round.
  for (const run of [...Object.values(contenders), ...Object.values(contenders)]) await run();
  const figures = await interleaved(contenders, quick ? 5 : 21);
  await client.close();

  const row = {
    what: 'a search over 10,000 tools, time of minisearch = 1',
    value: figures.ratio('microseconds', 'fullmcp', 'minisearch'),
    unit: '×',
    better: /** @type {const} */ ('less'),
    budget: 1.2,
  };
  for (const [name, { microseconds }] of Object.entries(figures.medians))
    console.log(`${`${name}, per question`.padEnd(48)}${microseconds.toFixed(0).padStart(10)} µs`);
  console.log(
    `${row.what.padEnd(48)} ${row.value.toFixed(2)} × (≤ ${row.budget} ×)${isMet(row) ? '' : '  MISSED'}`,
  );
  const times = Object.fromEntries(
    [started, listed, again, front, first, mini].map(({ what, ms }) => [what, ms]),
  );
  for (const [what, ms] of Object.entries(times))
    console.log(`${what.padEnd(48)}${ms.toFixed(1).padStart(10)} ms`);
  if (!quick) save({ budgets: [row], medians: figures.medians, milliseconds: times });
  process.exitCode = isMet(row) ? 0 : 1;
}

/** The catalogue, for as many tenants as it takes. */
function manyTools() {
  const catalogue = readCatalogue();
  return Array.from({ length: TOOLS }, (_, at) => {
    const { name, description, inputSchema } = catalogue[at % catalogue.length];
    const tenant = TENANTS[Math.floor(at / catalogue.length)];
    return { name: `${tenant}_${name}`, description: `${description} (${tenant})`, inputSchema };
  });
}

function miniSearch(tools) {
  const index = new MiniSearch({
    idField: 'name',
    fields: ['name', 'description', 'args'],
    tokenize: (text) => text.split(/[^a-zA-Z0-9]+/),
    searchOptions: { boost: { name: 2 } },
  });
  index.addAll(tools.map((tool) => ({ ...tool, args: Object.keys(tool.inputSchema.properties).join(' ') })));
  return index;
}

async function listAll(call) {
  let cursor;
  let count = 0;
  do {
    const page = await call('tools/list', cursor === undefined ? {} : { cursor });
    count += page.tools.length;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return count;
}

function timed(what, work) {
  const from = performance.now();
  const value = work();
  return { what, value, ms: performance.now() - from };
}

async function timedAsync(what, work) {
  const from = performance.now();
  const value = await work();
  return { what, value, ms: performance.now() - from };
}

function save(search) {
  const results = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const round = (_, value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
  const dated = { ...about(), ...search };
  writeFileSync(RESULTS, `${JSON.stringify({ ...results, search: dated }, round, 2)}\n`);
}
