import { afterAll, beforeAll, expect } from 'vitest';
import { fixture, type HttpProcess, startHttp } from '../support/processes.js';
import { rows } from './support/connections.js';
import { officialClientTests } from './support/scenarios.js';

// Every scenario with every official client over each of its transports, against the built package in its own process.

let server: HttpProcess;

beforeAll(async () => {
  server = await startHttp(fixture, 'http');
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

officialClientTests(rows, () => server.url);
