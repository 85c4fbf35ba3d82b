import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { receiver } from '../../../../../src/events.js';
import { occurrence } from '../../../../support/events/event-server.js';
import { SECRET, webhook } from '../../../../support/events/sender.js';
import { soon } from '../../../../support/until.js';

const problems: unknown[] = [];
const events: string[] = [];
const hooks = receiver({
  secret: SECRET,
  onEvent: ({ eventId }) => void events.push(eventId),
  onProblem: (problem) => void problems.push(problem),
});

const headerText = fc.string({ maxLength: 40 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, 'x'));
const names = [
  'content-type',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'x-mcp-subscription-id',
];

test('no header and no body makes a receiver fail, and nothing unsigned reaches the program', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.constantFrom(...names), fc.oneof(headerText, fc.constant(undefined)), { maxKeys: 3 }),
      fc.oneof(fc.string(), fc.json()),
      async (headers, body) => {
        const sent = await webhook(body, { id: 'x', headers, sentBody: `${body} ` });
        const { status } = await hooks(sent);
        expect([400, 401, 415]).toContain(status);
      },
    ),
    { numRuns: 300 },
  );
  expect([problems, events]).toEqual([[], []]);
});

test('a signed body, whatever it is, gets a reply of its own fault, and only well-formed events reach the program', async () => {
  const value = fc.jsonValue();
  const event = fc.record(
    {
      eventId: fc.oneof(fc.constant('x'), value),
      name: fc.oneof(fc.string(), value),
      timestamp: fc.oneof(fc.constant('2026-10-26T07:33:19Z'), value),
      data: fc.oneof(fc.dictionary(fc.string(), value), value),
      cursor: value,
      type: value,
      challenge: value,
      error: value,
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(event, value), async (body) => {
      const { status } = await hooks(await webhook(JSON.stringify(body), { id: 'x' }));
      expect([200, 204, 400]).toContain(status);
    }),
    { numRuns: 300 },
  );
  expect(problems).toEqual([]);
  expect(new Set(events).size).toBeLessThanOrEqual(1);
});

async function listening(): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const server = createServer(hooks.node);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

test('on Node, a receiver accepts, refuses what is too large while it arrives, and ends a body that stops arriving', async () => {
  const { url, close } = await listening();
  try {
    const good = await webhook(occurrence('node_1'), { url });
    expect((await fetch(good)).status).toBe(204);
    expect((await fetch(url)).status).toBe(405);

    const { headers } = await webhook(occurrence('node_2'), { url });
    const flood = request(url, { method: 'POST', headers: Object.fromEntries(headers) });
    const reply = new Promise<number>((resolve, reject) => {
      flood.on('response', (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject);
    });
    for (let n = 0; n < 5; n++) flood.write('x'.repeat(65_536));
    expect(await soon('the refusal', reply)).toBe(413);
    flood.destroy();

    const slow = request(url, { method: 'POST', headers: Object.fromEntries(headers) });
    const late = new Promise<number>((resolve, reject) => {
      slow.on('response', (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject);
    });
    slow.write('{');
    expect(await soon('the end of the slow body', late)).toBe(408);
    slow.destroy();
  } finally {
    await close();
  }
});

test('a body that a framework has parsed is refused with a sentence, and one that it has read is verified', async () => {
  const told: string[] = [];
  const own = receiver({
    secret: SECRET,
    onEvent: () => {},
    onProblem: ({ message }) => void told.push(message),
  });
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const bytes = Buffer.concat(chunks);
      own.node(Object.assign(req, { body: req.url === '/raw' ? bytes : JSON.parse(bytes.toString()) }), res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    expect((await fetch(await webhook(occurrence('1'), { url: `${origin}/raw` }))).status).toBe(204);
    expect((await fetch(await webhook(occurrence('2'), { url: `${origin}/parsed` }))).status).toBe(500);
    expect(told[0]).toContain('before the body parser');
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
