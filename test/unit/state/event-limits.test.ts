import { memoryEventLog } from 'fullmcp/http';
import { nats } from 'fullmcp/nats';
import { postgres } from 'fullmcp/postgres';
import { redis } from 'fullmcp/redis';
import { expect, test } from 'vitest';
import { fillDefaults } from '../../../src/protocol/checks/options.js';
import { type EventLimits, eventLimitTable, unlimitedStreams } from '../../../src/state/event-log.js';

// Nothing is connected before it is used.
const engines: readonly (readonly [string, (events: EventLimits) => unknown])[] = [
  ['memoryEventLog', (events) => memoryEventLog(events)],
  ['redis', (events) => redis({ url: 'redis://localhost', events })],
  ['postgres', (events) => postgres({ url: 'postgres://localhost/none', events })],
  ['nats', (events) => nats({ url: 'nats://localhost', events })],
];

const names = ['maxAgeMs', 'maxEventsPerStream', 'maxBytesPerStream', 'maxEventBytes'] as const;

test.each(engines)(
  '%s takes the same limits of events as every engine, and refuses others',
  (_name, open) => {
    open({ maxAgeMs: 60_000, maxEventsPerStream: 10, maxBytesPerStream: 100_000, maxEventBytes: 10_000 });
    for (const name of names)
      for (const value of [0, -1, 1.5, Number.NaN, '5'])
        expect(() => open({ [name]: value }), `${name}: ${value}`).toThrow(`${name}" must be an integer, `);
    expect(() => open({ maxEventAgeMs: 5 } as never)).toThrow(
      /has no option "(events\.)?maxEventAgeMs".*maxAgeMs/,
    );
  },
);

test('Options of engines that have another name now are refused with that name', () => {
  const url = 'redis://localhost';
  expect(() => redis({ url, maxEventAgeMs: 5 } as never)).toThrow('Set `events: { maxAgeMs }`.');
  expect(() => redis({ url, maxBytesPerStream: 5 } as never)).toThrow('Set `events: { maxBytesPerStream }`.');
  expect(() => postgres({ statementTimeoutMs: 5 } as never)).toThrow('Did you mean "timeoutMs"?');
});

test('The limits of events have one set of defaults, and streams are kept for an hour', () => {
  expect(fillDefaults({}, eventLimitTable)).toEqual({
    maxAgeMs: 3_600_000,
    maxEventsPerStream: 1000,
    maxBytesPerStream: 4 * 1024 * 1024,
    maxEventBytes: 16 * 1024 * 1024,
  });
});

test('An engine that cannot limit the size of a stream says so only to an operator who has set that limit', () => {
  expect(unlimitedStreams('NATS', {})).toEqual([]);
  expect(unlimitedStreams('NATS', { maxBytesPerStream: 5 })).toEqual([
    'NATS cannot limit the size of a stream, so that "events.maxBytesPerStream" has no effect. Set maxEventsPerStream and maxEventBytes.',
  ]);
});
