import { createServer, event, inProcess } from 'fullmcp';
import { type WebhookReceiver, webhookReceiver } from 'fullmcp/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { servedFor } from '../../../src/cli/target/caller.js';
import type { Auth } from '../../../src/protocol/call.js';
import { toAuth } from '../../../src/protocol/caller.js';
import { operatedServer } from '../../../src/tooling/operator/operated-server.js';
import { describeInChromium } from '../../browser/chromium.js';
import { secretOf } from '../../support/events/receiver.js';
import { loadAxe, violations } from './support/axe.js';
import { field, place } from './support/find.js';
import { usePage } from './support/world.js';

const HOSTILE = '<img src=x onerror=alert(1)>\u202eevil\u200b';

describeInChromium('the events in the page of the inspector', () => {
  const world = usePage();
  const reply = { status: 410 };
  let hooks: WebhookReceiver;
  let server: ReturnType<typeof makeServer>;

  function makeServer() {
    const payload = z.object({ id: z.string(), status: z.string() });
    return createServer({
      ...{ name: 'desk', version: '1.0.0', logger: () => undefined },
      events: {
        ticket_changed: event({
          description: 'A ticket changed',
          input: z.object({ queue: z.string().optional() }),
          payload,
        }),
        polled: event({ description: HOSTILE, payload, delivery: ['poll'] }),
        hooked: event({ payload, delivery: ['webhook'] }),
      },
      webhooks: { privateHosts: [hooks.url] },
    });
  }

  beforeAll(async () => {
    hooks = await webhookReceiver({
      reply: ({ body }) => (body['type'] === 'verification' ? undefined : reply.status),
    });
    server = makeServer();
    await world.connect(operatedServer(servedFor(server, toAuth({ subject: 'eve' }, 'caller') as Auth)));
  });
  afterAll(async () => {
    await hooks?.close();
    await server?.close();
  });

  test('are followed with the keyboard, and shown as they happen', async () => {
    const page = await world.visit('#/tools');
    await page.locator('.tools, .empty').first().waitFor();
    await page.keyboard.press('7');
    await place(page).getByRole('heading', { name: 'ticket_changed' }).waitFor();
    await page.keyboard.press('Control+Enter');
    await place(page).getByText('Following on a stream').waitFor();
    await server.emit('ticket_changed', { id: 'T-7', status: HOSTILE }, { eventId: 'T-7-open' });
    await place(page).getByText('T-7-open').waitFor();
    await place(page)
      .getByText(/, 1 event$/)
      .waitFor();
    await place(page).locator('summary', { hasText: 'T-7-open' }).click();
    const data = place(page).getByRole('figure', { name: 'Data of T-7-open' });
    await data.waitFor();
    expect(await data.innerText()).toContain('\\u202eevil\\u200b');
    expect(await page.locator('img').count()).toBe(0);
    await page.keyboard.press('Control+Enter');
    await place(page).getByRole('button', { name: 'Follow', exact: true }).waitFor();
  });

  test('are polled, each time from the last one on', async () => {
    const page = await world.visit('#/events/polled');
    await place(page).getByRole('button', { name: 'Poll' }).click();
    await place(page).getByText('No event yet.').waitFor();
    await server.emit('polled', { id: 'P-1', status: 'open' }, { eventId: 'P-1' });
    await place(page).getByRole('button', { name: 'Poll' }).click();
    await place(page).getByText('1 event.', { exact: true }).waitFor();
    await place(page).getByText('P-1', { exact: true }).waitFor();
  });

  test('are sent for a test, whose data is checked in the form', async () => {
    const page = await world.visit('#/events/ticket_changed');
    await place(page).getByText('Send a test event').click();
    await field(page, 'id').fill('T-8');
    await field(page, 'status').fill('open');
    await place(page).getByRole('button', { name: 'Follow', exact: true }).click();
    await place(page).getByText('Following on a stream').waitFor();
    await place(page).getByRole('button', { name: 'Send', exact: true }).click();
    await place(page)
      .getByText(/^Sent /)
      .waitFor();
    await place(page).getByText('{"id":"T-8","status":"open"}').waitFor();
    await place(page).getByRole('button', { name: 'Stop', exact: true }).click();
  });

  test('show their webhooks with the attempts, and are sent again', async () => {
    const delivery = { mode: 'webhook', url: `${hooks.url}/hook?key=of-query`, secret: secretOf(1) };
    await inProcess(server, { caller: { subject: 'ada' } })('events/subscribe', { name: 'hooked', delivery });
    await server.emit('hooked', { id: 'H-1', status: 'open' }, { eventId: 'H-1' });
    await expect
      .poll(async () => {
        for await (const { dead } of server.webhooks.deliveries()) return dead.length;
        return 0;
      })
      .toBe(1);
    const page = await world.visit('#/events/hooked');
    await place(page).getByText('The server tells these events only to webhooks.').waitFor();
    const row = place(page).getByRole('row', { name: /H-1/ });
    await row.waitFor();
    expect(await row.innerText()).toContain('http_4xx');
    expect(await page.content()).not.toContain('of-query');
    reply.status = 204;
    await row.getByRole('button', { name: 'Send H-1 again' }).click();
    await place(page).getByText('1 event sent again').waitFor();
    await expect
      .poll(async () => {
        await place(page).getByRole('button', { name: 'Read the deliveries again' }).click();
        return row.count();
      })
      .toBe(0);
    await place(page)
      .getByText(/last delivery/)
      .waitFor();
  });

  test.each([
    ['light', 1440],
    ['dark', 1024],
    ['light', 390],
  ] as const)('have no fault that axe finds in the %s theme, %i wide', async (theme, width) => {
    await server.emit('ticket_changed', { id: 'A-1', status: 'open' });
    const page = await world.visit('#/events/ticket_changed', { theme, width });
    await place(page).getByText('Send a test event').click();
    await field(page, 'status').waitFor();
    await loadAxe(page);
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  });

  test('stay usable when 500 of them were told', async () => {
    const page = await world.visit('#/events/ticket_changed');
    await place(page).getByRole('button', { name: 'Follow', exact: true }).click();
    await place(page).getByText('Following on a stream').waitFor();
    for (let at = 0; at < 520; at++) await server.emit('ticket_changed', { id: `M-${at}`, status: 'x' });
    await place(page).getByText('{"id":"M-519","status":"x"}').waitFor();
    expect(await place(page).locator('.events-list > li').count()).toBe(50);
    await place(page)
      .getByRole('button', { name: /older events$/ })
      .click();
    expect(await place(page).locator('.events-list > li').count()).toBe(150);
    await place(page).getByRole('button', { name: 'Stop', exact: true }).click();
  });

  test('come as webhooks to the receiver of the page, which replies as it is told', async () => {
    const page = await world.visit('#/events/ticket_changed');
    const start = place(page).getByRole('button', { name: 'Receive webhooks' });
    await start.click();
    // The server does not allow the address yet.
    const words = await place(page)
      .getByText(/privateHosts: \['http:\/\/127\.0\.0\.1:\d+'\]/)
      .innerText();
    const origin = /http:\/\/[\d.]+:\d+/.exec(words)?.[0] ?? '';
    const own = createServer({
      ...{ name: 'hooked desk', version: '1.0.0', logger: () => undefined },
      events: { ticket_changed: event({ payload: z.object({ id: z.string() }) }) },
      webhooks: { privateHosts: [origin] },
    });
    await world.connect(servedFor(own, toAuth({ subject: 'ada' }, 'caller') as Auth));
    const other = await world.visit('#/events/ticket_changed');
    await place(other).getByRole('button', { name: 'Receive webhooks' }).click();
    await place(other).getByText('verification', { exact: true }).waitFor();
    await place(other).getByLabel('Reply').selectOption('gone');
    await own.emit('ticket_changed', { id: 'W-1' }, { eventId: 'W-1-open' });
    const row = place(other).locator('summary', { hasText: 'W-1-open' });
    await row.waitFor();
    expect(await row.innerText()).toMatch(/webhook\s+signed\s+replied 410/);
    await row.click();
    await place(other)
      .getByRole('figure', { name: 'Headers of W-1-open' })
      .getByText('webhook-signature')
      .waitFor();
    await loadAxe(other);
    expect(await violations(other)).toEqual([]);
    expect(await other.content()).not.toMatch(/whsec_[\w+/]/);
    await place(other).getByRole('button', { name: 'Stop receiving' }).click();
    await place(other).getByRole('button', { name: 'Receive webhooks' }).waitFor();
    await own.close();
  });
});
