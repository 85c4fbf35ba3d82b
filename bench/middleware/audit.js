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
const ROUNDS = quick ? 3 : 15;
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
 * @param {number} count
 * @param {{ callers?: number, options?: object, fileOptions?: object, sink?: object }} [how]
 */
async function calls(count, { callers = CALLERS, options, fileOptions, sink } = {}) {
  const path = fresh();
  const to = sink ?? auditFile({ path, secret, ...fileOptions });
  const middleware = audit({ to, ...options });
  const next = async () => ({ resultType: 'complete' });
  await middleware(call, next);
  const caller = async () => {
    for (let n = 0; n < count / callers; n++) await middleware(call, next);
  };
  const time = fileOptions?.sync ? waited : timed;
  const ms = await time(() => Promise.all(Array.from({ length: callers }, caller)));
  await to.close?.();
  return { perSecond: (count / ms) * 1000, path };
}

/** A sink that prints entries and appends them, without a chain, a head or a check of the file. */
function plainSink() {
  const fd = openSync(fresh(), 'a');
  return {
    write(entries) {
      let text = '';
      for (const entry of entries) text += `${JSON.stringify(entry)}\n`;
      writeSync(fd, text);
    },
    close: () => closeSync(fd),
  };
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

/**
 * Plain appends with so many lines in a write. `print` makes a line of an item.
 * @template Item
 * @param {readonly Item[]} items
 * @param {{ atOnce: number, print: (item: Item) => string, sync?: boolean }} how
 */
async function appended(items, { atOnce, print, sync = false }) {
  const fd = openSync(fresh(), 'a');
  const ms = await (sync ? waited : timed)(() => {
    for (let n = 0; n < items.length; n += atOnce) {
      let text = '';
      for (const item of items.slice(n, n + atOnce)) text += `${print(item)}\n`;
      writeSync(fd, text);
      if (sync) fdatasyncSync(fd);
    }
  });
  closeSync(fd);
  return { perSecond: (items.length / ms) * 1000 };
}

/** The CPU time of some work in ms: other programs do not change it. @param {() => unknown} work */
async function timed(work) {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** The time of some work in ms, with the time in which it waits for the disk. @param {() => unknown} work */
async function waited(work) {
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
const finished = (line) => line;
/** @param {() => Promise<unknown>} verify */
const verified = async (verify) => ({ perSecond: (LINES / (await timed(verify))) * 1000 });
const { medians, ratio } = await interleaved(
  {
    'finished lines appended, one in a write': () => appended(lines, { atOnce: 1, print: finished }),
    'finished lines appended, 50 in a write': () => appended(lines, { atOnce: CALLERS, print: finished }),
    'entries printed and appended, one in a write': () =>
      appended(entries, { atOnce: 1, print: JSON.stringify }),
    'entries printed and appended, 50 in a write': () =>
      appended(entries, { atOnce: CALLERS, print: JSON.stringify }),
    'auditFile, one entry in a write': () => sinkAlone(entries, 1),
    'auditFile, 50 entries in a write': () => sinkAlone(entries, CALLERS),
    'calls of 50 callers, plain appends': async () => rate(await calls(LINES, { sink: plainSink() })),
    'calls of 50 callers, auditFile': async () => rate(await calls(LINES)),
    'calls of one caller, plain appends': async () =>
      rate(await calls(LINES / 5, { callers: 1, sink: plainSink() })),
    'calls of one caller, auditFile': async () => rate(await calls(LINES / 5, { callers: 1 })),
    'calls of 50 callers, auditFile, with `intent`': async () =>
      rate(await calls(LINES, { options: { intent: true } })),
    'entries printed and appended, each one synced': () =>
      appended(entries.slice(0, SYNC_LINES), { atOnce: 1, print: JSON.stringify, sync: true }),
    'calls of 50 callers, auditFile, with `sync`': async () =>
      rate(await calls(SYNC_LINES, { fileOptions: { sync: true } })),
    verifyAuditFile: () => verified(() => verifyAuditFile(path, { secret })),
    'verifyAudit, on every runtime': () => verified(() => verifyAudit(lines, { secret })),
  },
  ROUNDS,
);
rmSync(folder, { recursive: true, force: true });

const bytes = Math.round(lines.join('\n').length / LINES);
console.log(
  `Lines of ${bytes} bytes, ${CALLERS} callers, median of ${ROUNDS} rounds; for a second of CPU, and of time where sync waits for the disk`,
);
for (const [name, { perSecond }] of Object.entries(medians))
  console.log(`${name.padEnd(70)}${Math.round(perSecond).toLocaleString('en').padStart(10)} /s`);
const callsOf = (who) => [`calls of ${who}, auditFile`, `calls of ${who}, plain appends`];
const sinkOf = (count, other) => [`auditFile, ${count} in a write`, `${other} in a write`];
const row = (what, [one, other], budget) => {
  const value = 100 * ratio('perSecond', one, other);
  return { what, value, unit: '%', better: 'more', ...(budget && { budget }) };
};
const table = [
  row('calls of 50 callers, of the same calls with plain appends', callsOf('50 callers'), 50),
  row('calls of one caller, of the same calls with plain appends', callsOf('one caller'), 50),
  row(
    'auditFile with 50 entries in a write, of printing and appending them',
    sinkOf('50 entries', 'entries printed and appended, 50'),
  ),
  row(
    'auditFile with one entry in a write, of printing and appending it',
    sinkOf('one entry', 'entries printed and appended, one'),
  ),
  row(
    'auditFile with 50 entries in a write, of appending finished lines',
    sinkOf('50 entries', 'finished lines appended, 50'),
  ),
  row(
    'auditFile with one entry in a write, of appending a finished line',
    sinkOf('one entry', 'finished lines appended, one'),
  ),
  row(
    'calls of 50 callers with `sync`, of synced appends',
    ['calls of 50 callers, auditFile, with `sync`', 'entries printed and appended, each one synced'],
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
