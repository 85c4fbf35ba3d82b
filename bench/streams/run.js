// `npm run bench -- streams`: 10,000 open streams on one process. --quick opens 2,000; --streams <count> opens another number;
// --against <checkout> also measures another build.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { about } from '../numbers.js';
import { measureKeepAlive, measureSlowReaders } from './idle-and-slow.js';
import { measureStreams } from './measure.js';

const RESULTS = fileURLToPath(new URL('../results.json', import.meta.url));
/** What a process needs beside its streams. */
const SPARE_FILES = 200;

/**
 * @param {readonly string[]} args
 * @param {string | undefined} against
 */
export async function measureAllStreams(args, against) {
  const quick = args.includes('--quick');
  const at = args.indexOf('--streams');
  const streams = at === -1 ? (quick ? 2000 : 10_000) : Number(args[at + 1]);
  if (!Number.isSafeInteger(streams) || streams < 100)
    throw new RangeError('--streams needs a number of streams, at least 100.');
  checkFiles(streams);
  const load = { before: loadavg()[0] ?? 0, after: 0 };
  const options = { streams, rounds: quick ? 5 : 9, callsMs: quick ? 1500 : 4000 };
  // The official SDK takes minutes to open as many.
  const few = Math.ceil(streams / 10);
  const contenders = [
    { name: 'bare node:http', server: 'floor', way: 'floor' },
    { name: 'subscriptions/listen', server: 'fullmcp', way: 'listen' },
    ...(against ? [{ name: 'the same, before', server: 'fullmcp', way: 'listen', dist: against }] : []),
    { name: 'session, GET stream', server: 'fullmcp', way: 'session' },
    ...(against ? [{ name: 'the same, before', server: 'fullmcp', way: 'session', dist: against }] : []),
    { name: 'WebSocket', server: 'fullmcp', way: 'webSocket' },
    { name: 'official: listen *', server: 'official', way: 'listen', streams: few },
    { name: 'official: session *', server: 'official', way: 'session', streams: few },
  ];
  const figures = {};
  console.log(`${streams.toLocaleString('en')} streams; times from the announcement to the receipt, in ms`);
  console.log(line(headings));
  for (const contender of contenders) {
    const { name, streams: own = streams } = contender;
    const measured = await measureStreams(contender, { ...options, streams: own }).catch((error) => {
      // Another's server that breaks down must not hide our figures.
      if (contender.server !== 'official') throw error;
      console.log(`${name.padEnd(22)} not measured: ${error.message}`);
    });
    if (measured === undefined) continue;
    figures[`${name}${contender.dist ? `: ${contender.way}` : ''}`] = { streams: own, ...measured };
    for (const text of rowsOf(name, measured, own)) console.log(text);
  }
  console.log(`* with ${few.toLocaleString('en')} streams`);
  const keepAlive = await measureKeepAlive({ streams, ms: quick ? 3000 : 6000 });
  console.log(
    `\nkeep-alive: ${keepAlive.microseconds.toFixed(1)} µs of CPU for each comment; with the default of 15 s, ${keepAlive.perSecondMs.toFixed(1)} ms of CPU a second for ${streams.toLocaleString('en')} streams, in which nothing blocks for longer than ${keepAlive.blockedMs.toFixed(0)} ms`,
  );
  const slow = await measureSlowReaders({ streams, slow: 100, rounds: quick ? 12 : 20 });
  console.log(
    `100 slow readers: ${slow.ended} were disconnected; the process took ${slow.peakMb.toFixed(0)} MB more at most; each of the other ${streams - 100} streams got each of ${slow.changes} changes once`,
  );
  load.after = loadavg()[0] ?? 0;
  if (!quick && at === -1 && against === undefined) save({ streams, load, figures, keepAlive, slow });
}

const headings = [
  '',
  'heap',
  'memory',
  'kept',
  'change',
  'p50',
  'p99',
  'max',
  'blocked',
  'CPU µs',
  'calls p99',
];

/** One line for each kind of change. */
function rowsOf(name, { memory, changes, calls }, streams) {
  const kinds = { list: 'list', all: 'resource of all', one: 'resource of one' };
  return Object.entries(changes).map(([kind, { p50, p99, max, blockedMs, cpuMs }], row) => {
    const perStream = kind === 'one' ? '' : ((cpuMs * 1000) / streams).toFixed(1);
    const first = row === 0;
    return line([
      first ? name : '',
      first ? kB(memory.heap) : '',
      first ? kB(memory.rss) : '',
      first ? kB(memory.left) : '',
      kinds[kind],
      ...[p50, p99, max, blockedMs].map((value) => value.toFixed(value < 10 ? 1 : 0)),
      perStream,
      first ? `${calls.quiet.p99.toFixed(1)} → ${calls.busy.p99.toFixed(1)}` : '',
    ]);
  });
}

function line([name, ...cells]) {
  return `${name.padEnd(22)}${cells.map((cell, at) => cell.padStart(at === 3 ? 17 : at === 9 ? 15 : 9)).join('')}`;
}

function kB(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

/** Fails if a process may not have enough connections. Node has raised its own limit to the hard one by now. */
function checkFiles(streams) {
  const { stdout } = spawnSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' });
  const limit = stdout.trim() === 'unlimited' ? Number.POSITIVE_INFINITY : Number(stdout);
  if (limit >= streams + SPARE_FILES) return;
  throw new Error(
    `${streams} streams need ${streams + SPARE_FILES} open files in a process, but the limit is ${limit}. Raise it with \`ulimit -n ${streams + SPARE_FILES}\` as root, or with LimitNOFILE, or pass --streams ${limit - SPARE_FILES}.`,
  );
}

function save(streams) {
  const results = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const round = (_, value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
  writeFileSync(
    RESULTS,
    `${JSON.stringify({ ...results, streams: { ...about(), ...streams } }, round, 2)}\n`,
  );
}
