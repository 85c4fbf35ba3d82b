// `npm run bench -- code`: the start of a program, a call in a program next to the same call without one, and a hundred programs at once.
// --quick takes a fifth of the time.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMet } from '../budgets.js';
import { about, interleaved } from '../numbers.js';

const RESULTS = fileURLToPath(new URL('../results.json', import.meta.url));
const DIST = process.env.FULLMCP_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));
const CALLS = 200;
const TOGETHER = 100;

/** @param {readonly string[]} args */
export async function measureCode(args) {
  const quick = args.includes('--quick');
  const { createServer, inProcess, tool } = await import(`${DIST}/index.js`);
  const { quickjs } = await import(`${DIST}/code.js`);
  const input = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } };
  const server = createServer({
    name: 'code',
    version: '1.0.0',
    logger: () => undefined,
    code: { engine: quickjs({ maxPrograms: TOGETHER }), maxCalls: CALLS },
    tools: { add: tool({ input, run: ({ a, b }) => ({ sum: a + b }) }) },
  });
  const call = inProcess(server);
  const program = async (code) => {
    const { isError, content } = await call('tools/call', { name: 'run_code', arguments: { code } });
    if (isError) throw new Error(content[0].text);
  };
  const first = await timed(() => program('return 1'));
  const typed = await timed(() => program('const one: number = 1; return one;'));
  const few =
    'let sum = 0; for (let n = 0; n < 3; n++) ({ sum } = await tools.add({ a: sum, b: n })); return sum;';
  const many = `let sum = 0; for (let n = 0; n < ${CALLS}; n++) ({ sum } = await tools.add({ a: sum, b: n })); return sum;`;
  const parallel = `const all = await Promise.all(Array.from({ length: ${CALLS} }, (_, n) => tools.add({ a: n, b: 1 }))); return all.length;`;
  const contenders = {
    plain: () => each(CALLS, (n) => call('tools/call', { name: 'add', arguments: { a: n, b: 1 } })),
    empty: () => each(10, () => program('return 1')),
    inner: () => each(1, () => program(many), CALLS),
    parallel: () => each(1, () => program(parallel), CALLS),
    inTurn: () => each(TOGETHER, () => program(few)),
    together: async () => {
      const from = performance.now();
      await Promise.all(Array.from({ length: TOGETHER }, () => program(few)));
      return { microseconds: (1000 * (performance.now() - from)) / TOGETHER };
    },
  };
  // Twice, so that the code is optimized before the first round.
  for (const run of [...Object.values(contenders), ...Object.values(contenders)]) await run();
  const figures = await interleaved(contenders, quick ? 5 : 21);
  await server.close();

  /** @type {import('../budgets.js').Row[]} */
  const rows = [
    {
      what: 'a program without calls, of a call in the same process = 1',
      value: figures.ratio('microseconds', 'empty', 'plain'),
      ...{ unit: '×', better: 'less' },
    },
    {
      what: 'a call in a program, of the same call without one = 1',
      value: figures.ratio('microseconds', 'inner', 'plain'),
      ...{ unit: '×', better: 'less' },
    },
    {
      what: 'one of a hundred programs at once, of one after the other = 1',
      value: figures.ratio('microseconds', 'together', 'inTurn'),
      ...{ unit: '×', better: 'less', budget: 1 },
    },
  ];
  for (const [name, { microseconds }] of Object.entries(figures.medians))
    console.log(`${name.padEnd(64)}${microseconds.toFixed(0).padStart(10)} µs`);
  console.log(`${'the first program of a server'.padEnd(64)}${first.toFixed(0).padStart(10)} ms`);
  console.log(`${'the first program in TypeScript'.padEnd(64)}${typed.toFixed(0).padStart(10)} ms`);
  for (const row of rows) {
    const limit = row.budget === undefined ? '' : ` (≤ ${row.budget} ×)${isMet(row) ? '' : '  MISSED'}`;
    console.log(`${row.what.padEnd(64)}${row.value.toFixed(2).padStart(10)} ×${limit}`);
  }
  if (!quick) save({ budgets: rows, medians: figures.medians, milliseconds: { first, typed } });
  process.exitCode = rows.every(isMet) ? 0 : 1;
}

/** @param {number} count @param {(n: number) => Promise<unknown>} run @param {number} [parts] */
async function each(count, run, parts = 1) {
  const from = performance.now();
  for (let n = 0; n < count; n++) await run(n);
  return { microseconds: (1000 * (performance.now() - from)) / count / parts };
}

/** @param {() => Promise<unknown>} work */
async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function save(code) {
  const results = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const round = (_, value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
  const dated = { ...about(), ...code };
  writeFileSync(RESULTS, `${JSON.stringify({ ...results, code: dated }, round, 2)}\n`);
}
