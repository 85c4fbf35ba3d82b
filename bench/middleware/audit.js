// The audit log next to plain appends of the same lines: `node bench/middleware/audit.js` after a build. --quick takes a fifth of
// the time.
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audit, verifyAudit } from '../../dist/middleware.js';
import { auditFile, verifyAuditFile } from '../../dist/node.js';
import { isMet } from '../budgets.js';
import { interleaved } from '../numbers.js';

const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 5 : 25;
const LINES = 10_000;
/** Each of these costs the disk a write. */
const SYNC_LINES = 500;
const CALLERS = 50;
const secret = 'a secret of more than 32 characters';
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-bench-audit-'));
let files = 0;
const fresh = () => join(folder, `${++files}.jsonl`);

const call = {
  id: 1,
  method: 'tools/call',
  params: {
    name: 'transfer',
    arguments: { from: 'DE89370400440532013000', to: 'FR7630006000011234567890189', amount: 125.5 },
  },
  peer: {
    revision: '2026-07-28',
    client: { name: 'cli', version: '2.1.0' },
    capabilities: {},
    logLevel: undefined,
  },
  auth: { subject: 'ada@example.com', issuer: 'https://issuer.example.com', scopes: [], claims: {} },
  http: { header: () => undefined, remoteAddress: '203.0.113.7' },
  signal: new AbortController().signal,
  notify: () => undefined,
};

/**
 * Calls from several callers, each of which makes its next call when the last one is answered.
 * @param {number} count @param {object} [options] @param {object} [fileOptions]
 */
async function calls(count, options, fileOptions) {
  const path = fresh();
  const sink = auditFile({ path, secret, ...fileOptions });
  const middleware = audit({ to: sink, ...options });
  const next = async () => ({ resultType: 'complete' });
  await middleware(call, next);
  const caller = async () => {
    for (let n = 0; n < count / CALLERS; n++) await middleware(call, next);
  };
  const ms = await timed(() => Promise.all(Array.from({ length: CALLERS }, caller)));
  await sink.close?.();
  return { perSecond: (count / ms) * 1000, path };
}

/** The sink alone, without the calls. @param {readonly object[]} entries @param {number} atOnce */
async function sinkAlone(entries, atOnce) {
  const sink = auditFile({ path: fresh(), secret });
  await sink.open?.(() => undefined);
  const ms = await timed(async () => {
    for (let n = 0; n < entries.length; n += atOnce) await sink.write(entries.slice(n, n + atOnce));
  });
  await sink.close?.();
  return { perSecond: (entries.length / ms) * 1000 };
}

/** @param {readonly object[]} entries @param {boolean} sync */
async function appended(entries, sync) {
  const fd = openSync(fresh(), 'a');
  const ms = await timed(() => {
    for (const entry of entries) {
      writeSync(fd, `${JSON.stringify(entry)}\n`);
      if (sync) fdatasyncSync(fd);
    }
  });
  closeSync(fd);
  return { perSecond: (entries.length / ms) * 1000 };
}

/** @param {readonly object[]} entries */
async function appendedInBatches(entries) {
  const fd = openSync(fresh(), 'a');
  const ms = await timed(() => {
    for (let n = 0; n < entries.length; n += CALLERS) {
      let text = '';
      for (const entry of entries.slice(n, n + CALLERS)) text += `${JSON.stringify(entry)}\n`;
      writeSync(fd, text);
    }
  });
  closeSync(fd);
  return { perSecond: (entries.length / ms) * 1000 };
}

/** @param {() => unknown} work */
async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const { path } = await calls(LINES);
const lines = readFileSync(path, 'utf8').trimEnd().split('\n').slice(-LINES);
const entries = lines.map((line) => {
  const { seq, hash, ...entry } = JSON.parse(line);
  return entry;
});
const rate = ({ perSecond }) => ({ perSecond });
/** @param {() => Promise<unknown>} verify */
const verified = async (verify) => ({ perSecond: (LINES / (await timed(verify))) * 1000 });
const { medians, ratio } = await interleaved(
  {
    'plain appends, a write for each line': () => appended(entries, false),
    'plain appends, a write for 50 lines': () => appendedInBatches(entries),
    'auditFile, 50 entries at once': () => sinkAlone(entries, CALLERS),
    'auditFile, one entry at a time': () => sinkAlone(entries, 1),
    'calls through audit and auditFile': async () => rate(await calls(LINES)),
    'calls through audit and auditFile, with `intent`': async () =>
      rate(await calls(LINES, { intent: true })),
    'plain appends, each one synced': () => appended(entries.slice(0, SYNC_LINES), true),
    'calls through audit and auditFile, with `sync`': async () =>
      rate(await calls(SYNC_LINES, {}, { sync: true })),
    verifyAuditFile: () => verified(() => verifyAuditFile(path, { secret })),
    'verifyAudit, on every runtime': () => verified(() => verifyAudit(lines, { secret })),
  },
  ROUNDS,
);
rmSync(folder, { recursive: true, force: true });

const bytes = Math.round(lines.join('\n').length / LINES);
console.log(`Lines of ${bytes} bytes, ${CALLERS} callers, median of ${ROUNDS} rounds`);
for (const [name, { perSecond }] of Object.entries(medians))
  console.log(`${name.padEnd(70)}${Math.round(perSecond).toLocaleString('en').padStart(10)} /s`);
const row = (what, [one, other], budget) => {
  const value = 100 * ratio('perSecond', one, other);
  return { what, value, unit: '%', better: 'more', ...(budget && { budget }) };
};
const plain = 'plain appends, a write for each line';
const table = [
  row('auditFile, of plain appends of the same entries', ['auditFile, 50 entries at once', plain], 50),
  row('the same, one entry at a time', ['auditFile, one entry at a time', plain]),
  row('the same with 50 plain entries in a write', [
    'auditFile, 50 entries at once',
    'plain appends, a write for 50 lines',
  ]),
  row('whole calls, of plain appends of their entries', ['calls through audit and auditFile', plain]),
  row(
    'whole calls with `sync`, of synced appends',
    ['calls through audit and auditFile, with `sync`', 'plain appends, each one synced'],
    50,
  ),
];
for (const each of table) {
  const limit = each.budget === undefined ? '' : `  ≥ ${each.budget} %`;
  console.log(
    `${each.what.padEnd(70)}${each.value.toFixed(0).padStart(10)} %${limit}${isMet(each) ? '' : '  MISSED'}`,
  );
}
process.exitCode = table.every(isMet) ? 0 : 1;
