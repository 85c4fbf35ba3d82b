import { expect, test } from 'vitest';
import { dialectOf, dialects, eventSettingsOf, failureOf } from '../../../../src/protocol/events/dialects.js';
import { EVENTS } from '../../../../src/protocol/events/offer.js';

test.each([
  ['sketch', {}],
  ['sketch', { extensions: {} }],
  ['sketch', { extensions: { 'io.modelcontextprotocol/tasks': {} } }],
  ['sep', { extensions: { [EVENTS]: {} } }],
] as const)('a client speaks the dialect %s if it declares %j', (dialect, capabilities) => {
  expect(dialectOf(capabilities)).toBe(dialect);
});

test('every number of both dialects has its failure, and no number has two', () => {
  const numbers = Object.values(dialects).flatMap((dialect) => Object.entries(dialect.numbers));
  expect(new Set(numbers.map(([, number]) => number)).size).toBe(10);
  for (const [failure, number] of numbers) expect(failureOf(number)).toBe(failure);
});

test.each([-32602, -32020, 0, undefined])('the number %s is not a failure of events', (number) => {
  expect(failureOf(number)).toBeUndefined();
});

test.each([
  ['the capability', { events: { listChanged: true } }, { listChanged: true }],
  ['the extension', { extensions: { [EVENTS]: {} } }, {}],
  [
    'both, where the extension counts',
    { events: {}, extensions: { [EVENTS]: { listChanged: true } } },
    { listChanged: true },
  ],
  ['neither', { extensions: {} }, undefined],
  ['something that is not an object', { events: true }, undefined],
])('the settings of a server that declares %s', (_place, capabilities, settings) => {
  expect(eventSettingsOf(capabilities)).toEqual(settings);
});
