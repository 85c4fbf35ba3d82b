import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import * as examples from '../../../examples/client/events.js';
import { connect } from '../../../src/client.js';
import { memoryTokenStore } from '../../../src/oauth.js';
import { eventServer, listed, occurrence, polls } from '../../support/events/event-server.js';
import { webhook } from '../../support/events/sender.js';
import { json, result } from '../../support/http/http-server.js';
import { until } from '../../support/until.js';

const tick = (id: string): object => occurrence(id, { name: 'ticket_changed', cursor: `c${id}` });

test('the examples of events list, follow and resume', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-events-'));
  await using server = await eventServer({
    events: [listed('ticket_changed', 'poll')],
    answers: { poll: polls({ cursor: 'c1', events: [tick('1')] }) },
  });
  try {
    await using client = await connect(server.url);
    expect(await examples.names(client)).toEqual(['ticket_changed: poll']);
    const seen: object[] = [];
    await (await examples.follow(client, (data) => seen.push(data))).close();
    const first = await examples.resume(client, folder, (data) => seen.push(data));
    await until('the event was handled', () => seen.length > 0);
    await first.close();
    await (await examples.resume(client, folder, () => {})).close();
    expect(server.requests('poll').at(-1)?.body?.params.cursor).toBe('c1');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the examples of webhooks subscribe, receive once and fail as told', async () => {
  await using server = await eventServer({
    answers: {
      subscribe: (request, response) =>
        json(response, result(request, { id: 'sub_1', refreshBefore: null, cursor: null, truncated: false })),
    },
  });
  await using client = await connect(server.url);
  const saved: string[] = [];
  const hooks = examples.receive(memoryTokenStore(), async (id) => void saved.push(id));
  const http = examples.serve(hooks);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  try {
    const own = `http://127.0.0.1:${(http.address() as AddressInfo).port}/hooks`;
    const subscription = await examples.subscribe(hooks, client, own);
    const { url, secret } = server.requests('subscribe')[0]?.body?.params.delivery ?? {};
    for (let n = 0; n < 2; n++)
      expect((await fetch(await webhook(tick('1'), { url, secrets: [secret] }))).status).toBe(204);
    expect(saved).toEqual(['1']);
    await subscription.close();

    await using failing = await examples.failing();
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++)
      statuses.push((await fetch(await webhook(tick('2'), { url: failing.url }))).status);
    expect(statuses).toEqual([503, 503, 204]);
  } finally {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  }
});
