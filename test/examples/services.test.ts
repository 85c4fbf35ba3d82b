import { expect, test } from 'vitest';
import { isThere, one, service, services, text } from '../../examples/services/in-process.js';

test('the service of the guide is found by its name, and called', () => {
  expect(service).toBe('weather');
  expect(text).toBe('Sunny');
  expect(services).toEqual([one]);
  expect(isThere).toBe(true);
  expect(one).toMatchObject({ tools: ['forecast'], transports: ['in-process'], revisions: ['2026-07-28'] });
});
