import { describe, expect, test } from 'vitest';
import { until } from '../support/until.js';
import { describeInChromium } from './chromium.js';
import type { Visit } from './visit.js';
import { useWorld } from './world.js';

// The client in a real browser: a page of one origin, a server of ours on another, a strict content security policy.

interface Setting {
  readonly name: string;
  readonly scheme: 'http' | 'ws';
  readonly transport: string;
  readonly revision?: string;
}

const settings: readonly Setting[] = [
  { name: 'over HTTP', scheme: 'http', transport: 'http' },
  { name: 'over HTTP in a session', scheme: 'http', transport: 'http', revision: '2025-11-25' },
  { name: 'over a WebSocket', scheme: 'ws', transport: 'websocket' },
  { name: 'over a WebSocket in a session', scheme: 'ws', transport: 'websocket', revision: '2025-11-25' },
];

describeInChromium('a page', () => {
  const world = useWorld();

  describe.each(settings)('$name', ({ scheme, transport, revision }) => {
    function open(scenario: string): Promise<Visit> {
      return world.open({
        do: scenario,
        url: world.url(scheme),
        ...(revision !== undefined && { revision }),
      });
    }

    test('connects', async () => {
      const problems: string[] = [];
      const expected = { transport, revision: revision ?? '2026-07-28', problems, server: 'demo' };
      expect(await shown(await open('connect'))).toEqual(expected);
    });

    test('calls a tool', async () => {
      expect(await shown(await open('call'))).toEqual({ text: '{"sum":42}', data: { sum: 42 } });
    });

    test('receives progress', async () => {
      const page = await open('progress');
      expect(await shown(page)).toEqual({ text: 'counted' });
      expect(await page.notes()).toEqual([
        { progress: 1, total: 3, message: 'step 1' },
        { progress: 2, total: 3, message: 'step 2' },
        { progress: 3, total: 3, message: 'step 3' },
      ]);
    });

    test('shows a question to the user and sends the answer', async () => {
      const asking = await open('ask');
      await asking.page.getByLabel('What is your name?').fill('Ada');
      await asking.page.getByRole('button', { name: 'Send' }).click();
      expect(await shown(asking)).toEqual({ text: 'Hello Ada' });
    });

    test('is notified of a change and reads the resource', async () => {
      expect(await change(await open('subscribe'))).toEqual({
        change: { kind: 'resource', uri: 'room://temperature' },
        text: '21',
      });
    });

    test('cancels a call, the handler sees that, and the next call works', async () => {
      const { events } = world.demo;
      events.length = 0;
      const waiting = await open('cancel');
      await until('the handler runs', () => events.includes('waiting'));
      await waiting.page.getByRole('button', { name: 'Stop' }).click();
      expect(await shown(waiting)).toMatchObject({ error: { code: 'cancelled' }, after: { sum: 2 } });
      await until("the handler's signal has aborted", () => events.includes('aborted'));
    });

    test("receives a tool's failure as a result, and as an error when it unwraps the result", async () => {
      expect(await shown(await open('fail'))).toEqual({
        isError: true,
        error: { code: 'tool_failed', message: 'The kettle is empty. Fill it first.' },
      });
    });

    test('validates results against the output schema', async () => {
      expect(await shown(await open('output'))).toMatchObject({
        data: { grams: 3 },
        error: { code: 'bad_response', message: expect.stringMatching(/"weigh" does not fit.*grams/s) },
      });
    });
  });

  test('falls back to the transport of 2024-11-05 if the address serves only that', async () => {
    const url = world.url('http', '/sse');
    const page = await world.open({ do: 'subscribe', url });
    // Both newer transports are tried first.
    expect(await change(page, [/405 \(/, /405 \(/])).toMatchObject({ text: '21' });
    expect(page.sent).toContain('POST /messages');
  });

  test.each([{}, { revision: '2025-11-25' }])('sends its token with the options %j', async (more) => {
    const page = await world.open({ do: 'identify', token: 'abc', url: world.url(), ...more });
    expect(await shown(page)).toEqual({ client: 'fullmcp', authorization: 'Bearer abc' });
  });

  test("mirrors a tool's parameters in headers", async () => {
    const page = await world.open({ do: 'header', listed: 'yes', url: world.url() });
    expect(await shown(page)).toEqual(routed);
  });

  test('lists the tools when the server reports missing headers, and retries the call', async () => {
    const page = await world.open({ do: 'header', url: world.url() });
    expect(await page.result()).toEqual(routed);
    expect(page.complaints).toEqual([expect.stringContaining('400 (Bad Request)')]);
  });

  const routed = { region: 'Zürich', zone: 7, headers: ['=?base64?WsO8cmljaA==?=', '7'] };

  /** The text that a page shows while it waits for a change. */
  async function change(page: Visit, complaints: readonly RegExp[] = []): Promise<unknown> {
    await until('the page has subscribed', async () => (await page.notes()).includes('subscribed'));
    world.demo.setTemperature(21);
    return shown(page, complaints);
  }
});

/** The final text of a page; fails if the page has logged any complaint. */
async function shown({ result, complaints }: Visit, expected: readonly RegExp[] = []): Promise<unknown> {
  const value = await result();
  expect(complaints).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
  return value;
}
