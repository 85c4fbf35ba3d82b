import { afterAll, beforeAll, expect } from 'vitest';
import { fixture, type HttpProcess, startHttp } from '../support/processes.js';
import { officialAskingTests } from './support/asking.js';
import { rows } from './support/connections.js';

// Questions to every official client over every transport, against the built package in its own process.

let server: HttpProcess;

beforeAll(async () => {
  server = await startHttp(fixture, 'http');
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

officialAskingTests(rows, () => server.url);
