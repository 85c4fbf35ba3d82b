// The budgets, as figures of one run. Absolute times and counts of one machine mean nothing on another; the ratio of two
// programs that are measured side by side does.

import { BEFORE } from './before.js';

const IN_PROCESS = 0.3;
const IN_PROCESS_CLIENT = 0.5;
const COLD_START = 2.2;

/**
 * @typedef {{ what: string, value: number, before?: number | undefined, official?: number, unit: string, budget?: number, better: 'more' | 'less' }} Row
 * @param {any} m
 * @param {boolean} [compared] Whether another build was measured too.
 * @returns {Row[]}
 */
export function rows({ http, inProcess, stdio, client, coldStart, command, heap }, compared = false) {
  const kB = (bytes) => bytes / 1000;
  const withFallbacks = (who) => 100 * http.ratio('perCpuSecond', who, who.replace('Fallbacks', 'Able'));
  /** The figure of fullmcp, that of the build before, and that of the official SDK. */
  const figures = (of, ours = 'fullmcp', theirs = 'official') => ({
    value: of(ours),
    ...(compared && { before: of(ours + BEFORE) }),
    ...(theirs && { official: of(theirs) }),
  });
  return [
    {
      what: 'HTTP tools/call, requests per CPU second, of bare node:http',
      ...figures((who) => 100 * http.ratio('perCpuSecond', who, 'floor')),
      unit: '%',
      budget: 85,
      better: 'more',
    },
    {
      what: 'the same in requests per second',
      ...figures((who) => 100 * http.ratio('perSecond', who, 'floor')),
      unit: '%',
      better: 'more',
    },
    {
      what: 'HTTP tools/call with 50 tools, of the same with one tool',
      ...figures((who) => 100 * http.ratio('perCpuSecond', who.replace(/^\w+/, '$&50'), who)),
      unit: '%',
      budget: 95,
      better: 'more',
    },
    {
      what: 'HTTP tools/call with unneeded `fallbacks`, of the same without',
      value: withFallbacks('fullmcpFallbacks'),
      // A build before them cannot be measured with them.
      ...(http.medians[`fullmcpFallbacks${BEFORE}`] && {
        before: withFallbacks(`fullmcpFallbacks${BEFORE}`),
      }),
      unit: '%',
      better: 'more',
    },
    {
      what: 'HTTP tools/call in a session of 2025-11-25, of bare node:http',
      ...figures((who) => 100 * http.ratio('perCpuSecond', who, 'floor'), 'fullmcpSession', ''),
      unit: '%',
      better: 'more',
    },
    {
      what: 'in-process call, of printing and parsing its messages',
      ...figures((who) => inProcess.ratio('microseconds', who, 'floor')),
      unit: '×',
      budget: IN_PROCESS,
      better: 'less',
    },
    {
      what: 'the same through a client',
      ...figures((who) => inProcess.ratio('microseconds', who, 'floor'), 'client'),
      unit: '×',
      budget: IN_PROCESS_CLIENT,
      better: 'less',
    },
    {
      what: 'stdio, one call at a time, over a bare echo',
      ...figures((who) => stdio.ratio('sequential', who, 'floor')),
      unit: '×',
      budget: 1.3,
      better: 'less',
    },
    {
      what: 'stdio, 1000 concurrent calls, messages/s of a bare echo',
      ...figures((who) => 100 * stdio.ratio('pipelined', 'floor', who)),
      unit: '%',
      budget: 60,
      better: 'more',
    },
    {
      what: 'client, HTTP, 32 concurrent calls, calls/s of bare node:http',
      ...figures((who) => 100 * client.http.ratio('busy', 'floor', who)),
      unit: '%',
      budget: 70,
      better: 'more',
    },
    {
      what: '  the same per CPU second of the client',
      ...figures((who) => 100 * client.http.ratio('busyCpu', 'floor', who)),
      unit: '%',
      better: 'more',
    },
    {
      what: '  the same over bare fetch',
      ...figures((who) => client.http.ratio('busyCpu', 'fetch', who)),
      unit: '×',
      budget: 3,
      better: 'more',
    },
    ...[
      ['sequential', 'client, stdio, one call at a time, calls/s of bare lines'],
      ['busy', 'client, stdio, 32 concurrent calls, calls/s of bare lines', 60],
      ['busyCpu', '  the same per CPU second of the client'],
    ].map(([figure, what, budget]) => ({
      what: String(what),
      ...figures((who) => 100 * client.stdio.ratio(figure, 'floor', who)),
      unit: '%',
      ...(budget !== undefined && { budget: Number(budget) }),
      better: /** @type {const} */ ('more'),
    })),
    {
      what: 'cold start to first response, over a bare echo',
      ...figures((who) => coldStart.ratio('milliseconds', who, 'floor'), 'plain'),
      unit: '×',
      budget: COLD_START,
      better: 'less',
    },
    {
      what: 'the same with zod schemas, over a bare echo that loads zod',
      ...figures((who) => coldStart.ratio('milliseconds', who, 'zod')),
      unit: '×',
      better: 'less',
    },
    ...[
      ['help', '`fullmcp --help`, over `node -e 0`', 2],
      ['list', '`fullmcp list` of a running server, over `node -e 0`', 4],
    ].map(([name, what, budget]) => ({
      what: String(what),
      value: command.ratio('milliseconds', name, 'node'),
      unit: '×',
      budget: Number(budget),
      better: /** @type {const} */ ('less'),
    })),
    ...[
      ['session', 'heap of an idle session', 2, 0.5],
      // Its last events are kept for five more minutes, for a client that reconnects.
      ['standing', 'heap of a session with its GET stream', 10, 1],
      ['listen', 'heap of a subscriptions/listen stream', 10, 0.5],
    ].flatMap(([kind, what, budget, most]) => [
      {
        what: String(what),
        value: kB(heap.fullmcp[kind].held),
        official: kB(heap.official[kind].held),
        unit: 'kB',
        budget: Number(budget),
        better: /** @type {const} */ ('less'),
      },
      {
        what: '  remaining after the client has disconnected',
        value: kB(Math.max(0, heap.fullmcp[kind].left)),
        official: kB(Math.max(0, heap.official[kind].left)),
        unit: 'kB',
        budget: Number(most),
        better: /** @type {const} */ ('less'),
      },
    ]),
  ];
}

/** @param {Row} row */
export function isMet({ value, budget, better }) {
  return budget === undefined || (better === 'more' ? value >= budget : value <= budget);
}
