// The figures as tables for docs/capacity.md.
import { table } from '../engines/tables.js';

/** @typedef {Record<string, Record<string, number>>} Engines */

const titles = {
  memory: 'memory',
  lmdb: 'LMDB',
  postgres: 'Postgres',
  redis: 'Redis, `everysec`',
  'redis, always': 'Redis, `always`',
  nats: 'NATS, events in LMDB',
};

/** @param {Engines} engines */
export function eventTable(engines) {
  const head = [
    'store',
    'emitted/s, one at a time',
    '64 at a time',
    'CPU µs each: replica + engine',
    'polled/s',
    'followed/s on one stream',
  ];
  return table(
    head,
    rowsOf(engines, (of) => [
      count(of['emitted, one at a time']),
      count(of['emitted']),
      cpu(of, 'emitted'),
      count(of['polled']),
      count(of['followed']),
    ]),
  );
}

/** @param {Engines} engines */
export function webhookTable(engines) {
  const head = [
    'store',
    'webhooks/s',
    'CPU µs each: replica + engine',
    'webhooks for each second of CPU of the replica',
  ];
  return table(
    head,
    rowsOf(engines, (of) => [
      count(of['delivered']),
      cpu(of, 'delivered'),
      count(1e6 / of['delivered, replica CPU']),
    ]),
  );
}

/** @param {Engines} engines */
export function fanOutTable(engines) {
  const kinds = {
    'webhooks to 25 hosts': 'webhooks',
    'webhooks to one host': 'webhooks of one host',
    streams: 'streams',
  };
  const head = ['from `emit` to 500 subscribers, ms: first, half, all', ...Object.keys(kinds)];
  return table(
    head,
    rowsOf(engines, (of) =>
      Object.values(kinds).map((kind) =>
        ['first', 'half', 'last'].map((part) => count(of[`${kind}, ${part}`])).join(', '),
      ),
    ),
  );
}

/** @param {Record<string, { bytes: number, first: number, next: number, perSecond: number }>} subscriptions @param {number} number */
export function subscriptionTable(subscriptions, number) {
  const rows = Object.entries(subscriptions).map(([name, { bytes, first, next, perSecond }]) => [
    titles[name],
    `${(bytes / 1000).toFixed(2)} kB`,
    count(perSecond),
    count(first),
    count(next),
  ]);
  const head = [
    `${number.toLocaleString('en')} subscriptions of webhooks`,
    'heap of each',
    'made/s',
    'from `emit` to the one that wants an event, ms: the first time',
    'afterwards',
  ];
  return table(head, rows);
}

/** @param {Engines} engines @param {(of: Record<string, number>) => string[]} cells */
function rowsOf(engines, cells) {
  return Object.entries(engines).map(([name, of]) => [titles[name] ?? name, ...cells(of)]);
}

function cpu(of, name) {
  return `${count(of[`${name}, replica CPU`])} + ${count(of[`${name}, engine CPU`])}`;
}

/** @param {number | undefined} value */
function count(value) {
  return value === undefined ? '–' : String(Math.round(value));
}
