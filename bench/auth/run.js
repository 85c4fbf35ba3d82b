// `npm run bench -- auth`: what the check of credentials costs, beside the same server without auth. --quick takes a fifth of the
// time; --against <checkout> measures another build without auth in the same rounds.
import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { BEFORE } from '../before.js';
import { isMet } from '../budgets.js';
import { startServer } from '../child.js';
import { loadRound } from '../measures/http.js';
import { about, interleaved } from '../numbers.js';
import { call, modernPost } from '../request.js';
import { createProver, startIssuer } from './credentials.js';

const KEY = `mcp_${'k'.repeat(43)}`;
/** The proofs that are signed before a round: more than a server can check in that time. */
const PROOFS_PER_MS = 20;
const RESULTS = fileURLToPath(new URL('../results.json', import.meta.url));

const labels = {
  jwt: 'HTTP tools/call with a verified JWT (RS256), of the same without auth',
  apiKey: 'HTTP tools/call with an API key, of the same without auth',
  dpop: 'HTTP tools/call with a new DPoP proof (ES256), of the same without auth',
  jwtEachTime: 'HTTP tools/call with a JWT that is verified each time, of the same without auth',
};
const budgets = { jwt: 60 };

/**
 * @param {readonly string[]} args
 * @param {string | undefined} against The other build's `dist`.
 */
export async function measureAuth(args, against) {
  const quick = args.includes('--quick');
  const loadBefore = loadavg()[0] ?? 0;
  const figures = await measure(against, {
    rounds: quick ? 8 : 42,
    roundMs: quick ? 100 : 150,
    warmUpMs: quick ? 300 : 1500,
  });
  const table = rows(figures, against !== undefined);
  for (const row of table) {
    const { what, value, budget, unit } = row;
    const limit = budget === undefined ? '' : `≥ ${budget} ${unit}`;
    console.log(
      `${what.padEnd(84)}${`${value.toFixed(1)} ${unit}`.padStart(10)}${limit.padStart(10)}${isMet(row) ? '' : '  MISSED'}`,
    );
  }
  for (const [name, { perSecond, serverBusy, clientBusy }] of Object.entries(figures.medians))
    console.log(
      `${name}: ${Math.round(perSecond)} requests/s; the server used ${Math.round(serverBusy * 100)} % of a core, the client ${Math.round(clientBusy * 100)} %`,
    );
  if (!quick && against === undefined) save(table, figures, { before: loadBefore, after: loadavg()[0] ?? 0 });
  process.exitCode = table.every(isMet) ? 0 : 1;
}

async function measure(against, { rounds, roundMs, warmUpMs }) {
  const issuer = await startIssuer();
  const prover = createProver();
  const tokens = {
    // One for each connection: requests with the same token at the same time would share one check.
    plain: Array.from({ length: 16 }, () => issuer.issue()),
    bound: issuer.issue({ cnf: { jkt: prover.jkt } }),
  };
  const kinds = ['none', ...Object.keys(labels), ...(against === undefined ? [] : [`none${BEFORE}`])];
  const running = await Promise.all(
    kinds.map(async (name) => {
      const isBefore = name.endsWith(BEFORE);
      const kind = name.replace(BEFORE, '');
      const args = [kind, JSON.stringify({ ...issuer.facts, key: KEY })];
      const server = await startServer('http-auth', { args, dist: isBefore ? against : undefined });
      return { name, server, requestFor: requestsOf(kind, server.port, { tokens, prover }) };
    }),
  );
  const round = ({ server, requestFor }, ms) => loadRound({ server, request: requestFor(ms) }, ms);
  for (const one of running) await round(one, warmUpMs);
  const figures = await interleaved(
    Object.fromEntries(running.map((one) => [one.name, () => round(one, roundMs)])),
    rounds,
  );
  for (const { server } of running) await server.stop();
  issuer.close();
  return figures;
}

/** Makes the function that makes the requests of a round. Each request with a proof needs a new one, which is signed before. */
function requestsOf(kind, port, { tokens, prover }) {
  const request = (headers) => modernPost(port, 'tools/call', call, headers);
  if (kind !== 'dpop') {
    const token = (connection) => (kind === 'apiKey' ? KEY : tokens.plain[connection % tokens.plain.length]);
    const text = (connection) =>
      request(kind === 'none' ? {} : { Authorization: `Bearer ${token(connection)}` });
    return () => text;
  }
  const url = `http://127.0.0.1:${port}/mcp`;
  return function proven(ms) {
    const requests = Array.from({ length: ms * PROOFS_PER_MS }, () =>
      Buffer.from(request({ Authorization: `DPoP ${tokens.bound}`, DPoP: prover.prove(tokens.bound, url) })),
    );
    return { next: () => requests.pop() };
  };
}

/**
 * @param {Awaited<ReturnType<typeof interleaved>>} figures
 * @param {boolean} compared
 * @returns {import('../budgets.js').Row[]}
 */
function rows(figures, compared) {
  const percent = (figure, one, other) => 100 * figures.ratio(figure, one, other);
  const common = { unit: '%', better: /** @type {const} */ ('more') };
  return [
    ...Object.entries(labels).flatMap(([kind, what]) => [
      { what, value: percent('perSecond', kind, 'none'), ...common, budget: budgets[kind] },
      {
        what: '  the same per CPU second of the server',
        value: percent('perCpuSecond', kind, 'none'),
        ...common,
      },
    ]),
    ...(compared
      ? [
          {
            what: 'HTTP tools/call without auth, of the same before',
            value: percent('perSecond', 'none', `none${BEFORE}`),
            ...common,
          },
        ]
      : []),
  ];
}

function save(table, { medians }, load) {
  const results = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const auth = {
    ...about(),
    load,
    budgets: table,
    medians,
  };
  const round = (_, value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
  writeFileSync(RESULTS, `${JSON.stringify({ ...results, auth }, round, 2)}\n`);
}
