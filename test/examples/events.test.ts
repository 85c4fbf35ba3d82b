import { createHmac } from 'node:crypto';
import { inProcess } from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { describe, expect, test } from 'vitest';
import { server as changes } from '../../examples/events/changes.js';
import { close, server as desk } from '../../examples/events/desk.js';
import { intakeOf, server as issues } from '../../examples/events/github.js';
import { server as payroll } from '../../examples/events/guarded.js';
import { billing } from '../../examples/events/poll.js';
import { server as news, relay } from '../../examples/events/relay.js';
import { server as scheduled } from '../../examples/events/schedule.js';
import { server as payments } from '../../examples/events/step.js';

// Runs the code that docs/events.md shows.

describe('The ticket desk', () => {
  test('tells a client that polls what happens in its queue', async () => {
    const news = await billing();
    const ask = inProcess(desk);
    await ask('tools/call', { name: 'open_ticket', arguments: { id: 'T-1', queue: 'billing' } });
    await ask('tools/call', { name: 'open_ticket', arguments: { id: 'T-2', queue: 'sales' } });
    await close('T-1');
    await close('T-1');
    expect(await news()).toMatchObject([
      { eventId: 'T-1-open', data: { id: 'T-1', status: 'open' } },
      { eventId: 'T-1-closed', data: { id: 'T-1', status: 'closed' } },
    ]);
    expect(await news()).toEqual([]);
  });
});

test('A step that emits tells its event once, however often the handler runs', async () => {
  const ask = inProcess(payments, { capabilities: { elicitation: {} } });
  const { cursor } = await ask('events/poll', { name: 'paid' });
  const params = { name: 'pay', arguments: { invoice: 'I-7' } };
  const question = await ask('tools/call', params);
  const inputResponses = { confirm: { action: 'accept', content: { sure: true } } };
  const answered = { ...params, inputResponses, requestState: question['requestState'] };
  const results = [await ask('tools/call', answered), await ask('tools/call', answered)];
  for (const result of results) expect(result).toMatchObject({ content: [{ text: 'I-7 is paid' }] });
  const page = await ask('events/poll', { name: 'paid', cursor });
  expect(page['events']).toMatchObject([{ data: { invoice: 'I-7' } }]);
});

test('A change of a resource is an event with the variables of its URI', async () => {
  const ask = inProcess(changes);
  const poll = (cursor?: unknown) =>
    ask('events/poll', { name: 'ticket_changed', arguments: { queue: 'billing' }, cursor });
  const { cursor } = await poll();
  await ask('tools/call', { name: 'close_ticket', arguments: { id: 'T-1' } });
  expect((await poll(cursor))['events']).toMatchObject([
    { data: { uri: 'tickets://billing/T-1', queue: 'billing', id: 'T-1' } },
  ]);
});

test('A webhook of GitHub is an event, once', async () => {
  const secret = 'a secret that GitHub has, too';
  const hook = intakeOf(secret);
  const ask = inProcess(issues);
  const { cursor } = await ask('events/poll', { name: 'issue_changed' });
  const send = async (event: string, id: string): Promise<number> => {
    const body = JSON.stringify({ action: 'opened', issue: { number: 7, title: 'It is slow' } });
    const headers = {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    };
    return (await hook(new Request('https://desk.example/', { method: 'POST', headers, body }))).status;
  };
  expect([await send('issues', 'd1'), await send('issues', 'd1'), await send('star', 'd2')]).toEqual([
    204, 204, 204,
  ]);
  expect((await ask('events/poll', { name: 'issue_changed', cursor }))['events']).toMatchObject([
    { eventId: 'd1', data: { number: 7, action: 'opened' } },
  ]);
});

test('The schedules of the example are right, and begin when the server starts', async () => {
  await scheduled.start();
  const { events } = await inProcess(scheduled)('events/list', {});
  expect(events).toMatchObject([{ name: 'ticket_overdue' }, { name: 'week_began' }]);
  await scheduled.close();
});

test('A caller gets the events of its own department', async () => {
  const claims = { department: 'sales' };
  const ask = inProcess(payroll, { caller: { subject: 'ada', scopes: ['payroll:read'], claims } });
  const poll = (department: string, cursor?: unknown) =>
    ask('events/poll', { name: 'salary_changed', arguments: { department }, cursor });
  const { cursor } = await poll('sales');
  for (const department of ['sales', 'press'])
    await payroll.emit('salary_changed', { department, employee: 'bob' });
  expect((await poll('sales', cursor))['events']).toMatchObject([{ data: { department: 'sales' } }]);
  await expect(poll('press')).rejects.toMatchObject({ number: -32012 });
  const stranger = inProcess(payroll, { caller: { subject: 'eve', claims } });
  expect(await stranger('events/list', {})).toMatchObject({ events: [] });
  await expect(stranger('events/poll', { name: 'salary_changed' })).rejects.toMatchObject({
    code: 'forbidden',
  });
});

test('A server tells the events of another one, with the same ids', async () => {
  await using source = await testClient(desk);
  await using subscriber = await testClient(news);
  const values = new Map<string, string>();
  const store = {
    get: async (key: string) => values.get(key),
    set: async (key: string, value: string) => values.set(key, value) && true,
    delete: async (key: string) => void values.delete(key),
  };
  await using events = await subscriber.collect('ticket_changed');
  await using _following = await relay(source, store);
  await inProcess(desk)('tools/call', { name: 'open_ticket', arguments: { id: 'T-9', queue: 'sales' } });
  expect(await events.next()).toMatchObject({ eventId: 'T-9-open', data: { id: 'T-9', queue: 'sales' } });
});
