import { createServer, event, inProcess, resource } from 'fullmcp';
import { afterEach, expect, test } from 'vitest';
import { until } from '../../support/until.js';

// Changes of resources as events, when the server is mounted in another one.

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

test('A change of a mounted server is one event there and one in the outer server, with the URI that each has', async () => {
  const inner = createServer({
    name: 'inner',
    version: '1',
    resources: {
      'tickets://{id}': resource({ read: ({ id }) => id }),
      'salaries://{id}': resource({ scopes: ['payroll'], read: ({ id }) => id }),
    },
    events: {
      ticket_changed: event({ resource: 'tickets://{id}' }),
      salary_changed: event({ resource: 'salaries://{id}' }),
    },
  });
  const outer = createServer({
    name: 'outer',
    version: '1',
    mount: { desk: inner },
    events: { changed: event({ resource: 'desk+tickets://{id}' }) },
  });
  closing.push(
    () => outer.close(),
    () => inner.close(),
  );
  const follow = async (
    server: Parameters<typeof inProcess>[0],
    name: string,
    scopes?: readonly string[],
  ) => {
    const ask = inProcess(server, scopes && { caller: { subject: 'ada', scopes } });
    const { cursor } = await ask('events/poll', { name });
    return async () =>
      ((await ask('events/poll', { name, cursor }))['events'] as { eventId: string; data: object }[]).map(
        ({ eventId, data }) => ({ eventId, data }),
      );
  };
  const [own, mounted, ofOuter, forbidden, allowed] = [
    await follow(inner, 'ticket_changed'),
    await follow(outer, 'desk_ticket_changed'),
    await follow(outer, 'changed'),
    await follow(outer, 'desk_salary_changed', []),
    await follow(outer, 'desk_salary_changed', ['payroll']),
  ];
  inner.changed.resource('tickets://1');
  inner.changed.resource('salaries://2');
  await until('all are told', async () => (await allowed()).length > 0 && (await ofOuter()).length > 0);
  const [{ eventId } = { eventId: '' }] = await own();
  expect(await own()).toEqual([{ eventId, data: { uri: 'tickets://1', id: '1' } }]);
  expect(await mounted()).toEqual([{ eventId, data: { uri: 'desk+tickets://1', id: '1' } }]);
  expect((await ofOuter()).map(({ data }) => data)).toEqual([{ uri: 'desk+tickets://1', id: '1' }]);
  expect(await allowed()).toHaveLength(1);
  expect(await forbidden()).toEqual([]);
});
