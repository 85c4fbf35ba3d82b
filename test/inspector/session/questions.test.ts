import { setTimeout as delay } from 'node:timers/promises';
import { createServer, tool } from 'fullmcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Serving, serve } from '../../../src/node.js';
import { type Rig, rig } from './rig.js';

// Questions in both eras: the user's time, answers that are remembered or rejected, and questions that nobody can answer any more.

const schema = z.object({ color: z.enum(['red', 'green']) });

const server = createServer({
  name: 'asking',
  version: '1.0.0',
  logger: () => undefined,
  tools: {
    paint: tool({
      run: async (_, { ask }) => (await ask('color', { message: 'Which color?', schema })).color,
    }),
    two: tool({
      run: async (_, { ask }) => {
        const first = await ask('first', { message: 'First?', schema });
        const second = await ask('second', { message: 'Second?', schema });
        return `${first.color} ${second.color}`;
      },
    }),
  },
});

let serving: Serving;
beforeAll(async () => {
  serving = await serve(server, { port: 0, signals: false });
});
afterAll(() => serving.close());

const accept = (color: string) => ({ action: 'accept', content: { color } });

describe.each(['2026-07-28', '2025-11-25'] as const)('a question in %s', (revision) => {
  let own: Rig;
  let id: string;

  beforeAll(async () => {
    own = rig();
    id = await own.connect({
      target: serving.url,
      options: { revision, timeoutMs: 1000, maxTimeoutMs: 1200 },
    });
  });
  afterAll(() => own[Symbol.asyncDispose]());

  const call = async (tool: string) => (await own.run('call', { connection: id, tool, args: {} })).story;

  test('does not time out while the user thinks, and that time is not the server’s', async () => {
    const story = await call('paint');
    const { id: question } = await own.question(story);
    await delay(1800);
    expect(own.story(story).state).toBe('asks');
    await own.run('answer', { story, question, answer: accept('red') });
    const ended = await own.ended(story);
    expect(ended).toMatchObject({ state: 'ok', outcome: { content: [{ text: 'red' }] } });
    expect(ended.youMs).toBeGreaterThan(1750);
    expect(ended.serverMs + 1750).toBeLessThan((ended.endedAt ?? 0) - ended.at);
  });

  test('can be answered once', async () => {
    const story = await call('paint');
    const { id: question } = await own.question(story);
    await own.run('answer', { story, question, answer: accept('green') });
    await expect(own.run('answer', { story, question, answer: accept('red') })).rejects.toThrow(
      'answered already',
    );
    const ended = await own.ended(story);
    expect(ended.outcome).toMatchObject({ content: [{ text: 'green' }] });
    await expect(own.run('answer', { story, question, answer: accept('red') })).rejects.toThrow(
      'answered already',
    );
  });

  test('is asked again in its place if the answer does not fit', async () => {
    const story = await call('paint');
    const { id: question } = await own.question(story);
    await own.run('answer', { story, question, answer: accept('blue') });
    const again = await own.question(story, ({ rejection }) => rejection !== undefined);
    expect(again.id).toBe(question);
    expect(again.rejection).toContain('color');
    await own.run('answer', { story, question, answer: accept('red') });
    const ended = await own.ended(story);
    expect(ended.questions).toHaveLength(1);
    expect(ended.outcome).toMatchObject({ content: [{ text: 'red' }] });
  });

  test('cannot be answered with garbage', async () => {
    const story = await call('paint');
    const { id: question } = await own.question(story);
    for (const answer of [{}, { action: 'maybe' }, { action: 'accept', content: [] }, { role: 'assistant' }])
      await expect(own.run('answer', { story, question, answer })).rejects.toThrow(/action|content/);
    await expect(own.raw('answer', { story, question, answer: 'red' })).rejects.toThrow(
      '"answer" must be an object',
    );
    await expect(own.run('answer', { story, question: 'q0', answer: accept('red') })).rejects.toThrow(
      'no question',
    );
    await expect(own.run('answer', { story: 9999, question, answer: accept('red') })).rejects.toThrow(
      'no call 9999',
    );
    expect(own.story(story).state).toBe('asks');
    await own.run('answer', { story, question, answer: { action: 'decline' } });
    expect((await own.ended(story)).state).toBe('tool-error');
  });

  test('is gone when the call is stopped', async () => {
    const story = await call('paint');
    const { id: question } = await own.question(story);
    await own.run('stop', { story });
    const ended = await own.ended(story);
    expect(ended.state).toBe('cancelled');
    expect(ended.questions[0]?.gone).toBeTypeOf('string');
    expect(ended.questions[0]?.answeredAt).toBeUndefined();
    await expect(own.run('answer', { story, question, answer: accept('red') })).rejects.toThrow('no longer');
  });

  test('is answered by itself in the next run, if the answer was to be remembered', async () => {
    const first = await call('two');
    const one = await own.question(first);
    await own.run('answer', { story: first, question: one.id, answer: accept('red'), remember: true });
    const other = await own.question(first, ({ id: asked }) => asked !== one.id);
    await own.run('answer', { story: first, question: other.id, answer: accept('green'), remember: true });
    await own.ended(first);

    const second = await own.ended(await call('two'));
    expect(second.outcome).toMatchObject({ content: [{ text: 'red green' }] });
    expect(second.questions.map(({ isRemembered }) => isRemembered)).toEqual([true, true]);
    expect(second.youMs).toBe(0);

    await own.run('forgetAnswers', { connection: id, tool: 'two' });
    const third = await call('two');
    await own.question(third);
    await own.run('stop', { story: third });
    await own.ended(third);
  });

  test('is gone when the connection is opened again, and the call says why it failed', async () => {
    const story = await call('paint');
    await own.question(story);
    await own.run('reconnect', { connection: id });
    const ended = await own.ended(story);
    expect(ended).toMatchObject({ state: 'error', error: { code: 'connection_closed' } });
    expect(ended.questions[0]?.gone).toBeTypeOf('string');
    await own.until('the connection', () => own.connection(id)?.status === 'ready');
    const next = await call('paint');
    const { id: question } = await own.question(next);
    await own.run('answer', { story: next, question, answer: accept('red') });
    expect((await own.ended(next)).state).toBe('ok');
  });
});

test('two calls that ask at once keep their questions apart', async () => {
  await using own = rig();
  const id = await own.connect({ target: serving.url, options: { revision: '2025-11-25' } });
  const stories = await Promise.all(
    Array.from(
      { length: 5 },
      async () => (await own.run('call', { connection: id, tool: 'paint', args: {} })).story,
    ),
  );
  for (const story of stories) {
    const { id: question } = await own.question(story);
    await own.run('answer', { story, question, answer: accept(story % 2 === 0 ? 'red' : 'green') });
  }
  for (const story of stories)
    expect((await own.ended(story)).outcome).toMatchObject({
      content: [{ text: story % 2 === 0 ? 'red' : 'green' }],
    });
});
