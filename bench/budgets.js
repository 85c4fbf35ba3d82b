// What is promised (docs: architecture, budgets), as figures of one run. Times and counts of one machine mean nothing on
// another; what one server needs over another, measured side by side, does.

/**
 * @typedef {{ what: string, value: number, official?: number, unit: string, budget?: number, better: 'more' | 'less' }} Row
 * @param {any} m
 * @returns {Row[]}
 */
export function rows({ http, inProcess, stdio, client, coldStart, heap }) {
  const kB = (bytes) => bytes / 1000;
  return [
    {
      what: 'HTTP tools/call, requests per CPU second, of bare node:http',
      value: 100 * http.ratio('perCpuSecond', 'fullmcp', 'floor'),
      official: 100 * http.ratio('perCpuSecond', 'official', 'floor'),
      unit: '%',
      budget: 70,
      better: 'more',
    },
    {
      what: 'the same in requests per second',
      value: 100 * http.ratio('perSecond', 'fullmcp', 'floor'),
      official: 100 * http.ratio('perSecond', 'official', 'floor'),
      unit: '%',
      better: 'more',
    },
    {
      what: 'HTTP tools/call with 50 tools, of the figure with one',
      value: 100 * http.ratio('perCpuSecond', 'fullmcp50', 'fullmcp'),
      official: 100 * http.ratio('perCpuSecond', 'official50', 'official'),
      unit: '%',
      budget: 95,
      better: 'more',
    },
    {
      what: 'call inside the process',
      value: inProcess.medians.fullmcp.microseconds,
      official: inProcess.medians.official.microseconds,
      unit: 'µs',
      budget: 5,
      better: 'less',
    },
    {
      what: 'the same through a client',
      value: inProcess.medians.client.microseconds,
      official: inProcess.medians.official.microseconds,
      unit: 'µs',
      budget: 5,
      better: 'less',
    },
    {
      what: 'stdio, one at a time, over a bare echo',
      value: stdio.ratio('sequential', 'fullmcp', 'floor'),
      official: stdio.ratio('sequential', 'official', 'floor'),
      unit: '×',
      budget: 1.3,
      better: 'less',
    },
    {
      what: 'stdio, 1000 under way, messages per second of a bare echo',
      value: 100 * stdio.ratio('pipelined', 'floor', 'fullmcp'),
      official: 100 * stdio.ratio('pipelined', 'floor', 'official'),
      unit: '%',
      budget: 60,
      better: 'more',
    },
    ...[
      ['http', 'busy', 'client, HTTP, 32 under way, calls per second of bare fetch'],
      ['http', 'busyCpu', '  the same per CPU second of the client'],
      ['stdio', 'sequential', 'client, stdio, one at a time, calls per second of bare lines'],
      ['stdio', 'busy', 'client, stdio, 32 under way, calls per second of bare lines'],
      ['stdio', 'busyCpu', '  the same per CPU second of the client'],
    ].map(([wire, figure, what]) => ({
      what: String(what),
      value: 100 * client[wire].ratio(figure, 'floor', 'fullmcp'),
      official: 100 * client[wire].ratio(figure, 'floor', 'official'),
      unit: '%',
      better: /** @type {const} */ ('more'),
    })),
    {
      what: 'cold start to first answer, over a bare echo',
      value: coldStart.difference('milliseconds', 'plain', 'floor'),
      official: coldStart.difference('milliseconds', 'official', 'floor'),
      unit: 'ms',
      budget: 60,
      better: 'less',
    },
    {
      what: 'the same with schemas of zod, over a bare echo that loads zod',
      value: coldStart.difference('milliseconds', 'fullmcp', 'zod'),
      official: coldStart.difference('milliseconds', 'official', 'zod'),
      unit: 'ms',
      better: 'less',
    },
    ...[
      ['session', 'heap of an idle session', 2, 0.5],
      // Its last events are kept for five minutes more, for a client that comes back.
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
        what: '  left of it when the client is gone',
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
