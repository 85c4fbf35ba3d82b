// `npm run bench -- composition`: a call of a server that is mounted two levels deep, and the CPU time that a proxy and a gateway need for a
// call, next to the server itself. --quick takes a fifth of the time.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMet } from '../budgets.js';
import { startComposed } from '../child.js';
import { loadRound } from '../measures/http.js';
import { about, interleaved } from '../numbers.js';
import { call, modernPost } from '../request.js';

const RESULTS = fileURLToPath(new URL('../results.json', import.meta.url));

/** @param {readonly string[]} args */
export async function measureComposition(args) {
  const quick = args.includes('--quick');
  const direct = await startComposed('direct');
  const servers = {
    direct,
    mounted: await startComposed('mounted'),
    proxy: await startComposed('proxy', String(direct.port)),
    gateway: await startComposed('gateway', String(direct.port)),
    bare: await startComposed('bare', String(direct.port)),
  };
  const running = Object.entries(servers).map(([name, server]) => {
    const params = name === 'gateway' ? { ...call, name: `up_${call.name}` } : call;
    return { name, server, request: modernPost(server.port, 'tools/call', params) };
  });
  for (const one of running) await loadRound(one, quick ? 500 : 2000);
  const figures = await interleaved(
    Object.fromEntries(running.map((one) => [one.name, () => loadRound(one, quick ? 100 : 200)])),
    quick ? 9 : 41,
  );
  for (const { server } of running) await server.stop();

  /** @type {import('../budgets.js').Row[]} */
  const rows = [
    {
      what: 'a call of a server mounted two levels deep, CPU time of a direct one = 1',
      value: figures.ratio('perCpuSecond', 'direct', 'mounted'),
      ...{ unit: '×', better: 'less', budget: 1.05 },
    },
    {
      what: 'a call through a proxy, CPU time of the proxy, of a direct call = 1',
      value: figures.ratio('perCpuSecond', 'direct', 'proxy'),
      ...{ unit: '×', better: 'less', budget: 1.5 },
    },
    {
      what: 'the same for a proxy of bare node:http, which reads nothing',
      value: figures.ratio('perCpuSecond', 'direct', 'bare'),
      ...{ unit: '×', better: 'less' },
    },
    {
      what: 'a call through a proxy, CPU time of a proxy of bare node:http = 1',
      value: figures.ratio('perCpuSecond', 'bare', 'proxy'),
      ...{ unit: '×', better: 'less' },
    },
    {
      what: 'a call through a gateway, CPU time of the gateway, of a direct call = 1',
      value: figures.ratio('perCpuSecond', 'direct', 'gateway'),
      ...{ unit: '×', better: 'less' },
    },
  ];
  for (const row of rows) {
    const limit = row.budget === undefined ? '' : ` (≤ ${row.budget} ×)${isMet(row) ? '' : '  MISSED'}`;
    console.log(`${row.what.padEnd(76)} ${row.value.toFixed(2)} ×${limit}`);
  }
  if (!quick) save({ budgets: rows, medians: figures.medians });
  process.exitCode = rows.every(isMet) ? 0 : 1;
}

function save(composition) {
  const results = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const round = (_, value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
  const dated = { ...about(), ...composition };
  writeFileSync(RESULTS, `${JSON.stringify({ ...results, composition: dated }, round, 2)}\n`);
}
