import { expect, test } from 'vitest';
import server from '../../examples/fallbacks/server.js';
import { hostOf, textOf, toldIn } from '../support/fallbacks/host.js';

// Runs the server that docs/hosts.md shows.

test('the server of the page asks the model first, and then the user on the page', async () => {
  const host = hostOf(server);
  const { task, questions } = toldIn(await host.call('cancel_order', { order: 'T-7' }));
  expect(Object.keys(questions ?? {})).toEqual(['reason']);
  const answer = { reason: 'a mistake' };
  const next = toldIn(await host.call('answer_question', { task, question: 'reason', answer }));
  const link = next.questions?.['sure']?.link ?? '';
  expect(link).toMatch(/^https:\/\/shop\.example\.com\/ask\?q=/);
  const body = new URLSearchParams({ decision: 'accept', 'f.sure': 'true' });
  const page = await server.askingPage?.reply(new Request(link, { method: 'POST', body }), undefined);
  const code = /<code>([\d ]+)<\/code>/.exec((await page?.text()) ?? '')?.[1];
  const done = await host.call('answer_question', { task, question: 'sure', code });
  expect(textOf(done)).toBe('T-7 is cancelled: a mistake');
});

test('the server of the page gives a quick result at once', async () => {
  const { text, calls } = await hostOf(server).finish('render', { pages: 2, msPerPage: 1 });
  expect([text, calls]).toEqual(['2 pages', ['render']]);
});
