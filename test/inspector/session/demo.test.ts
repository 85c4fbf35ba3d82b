import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectOptions } from '../../../src/connect/targets/options.js';
import type { Target } from '../../../src/connect/targets/target.js';
import { type Serving, serve } from '../../../src/node.js';
import type { Revision } from '../../../src/protocol/tables/revisions.js';
import { ownDemo } from '../../support/examples/demo.js';
import { type Rig, rig } from './rig.js';

const demo = await ownDemo();

// The demo over each transport, in each era.

const main = fileURLToPath(new URL('../../../build/examples/demo/main.js', import.meta.url));
let serving: Serving;

beforeAll(async () => {
  serving = await serve(demo, { port: 0, signals: false });
});
afterAll(() => serving.close());

interface Row {
  readonly over: string;
  readonly revision: Revision;
  readonly target: () => Target;
  readonly options?: ConnectOptions;
}

const stdio = (): Target => ({
  command: process.execPath,
  args: [main, '--stdio'],
});

const rows: readonly Row[] = [
  { over: 'in-process', revision: '2026-07-28', target: () => demo },
  { over: 'http', revision: '2026-07-28', target: () => serving.url },
  { over: 'http', revision: '2025-11-25', target: () => serving.url },
  {
    over: 'http+sse',
    revision: '2025-11-25',
    target: () => serving.url.replace(/mcp$/, 'sse'),
    options: {},
  },
  { over: 'websocket', revision: '2026-07-28', target: () => serving.url.replace('http', 'ws') },
  { over: 'websocket', revision: '2025-11-25', target: () => serving.url.replace('http', 'ws') },
  { over: 'stdio', revision: '2026-07-28', target: stdio },
  { over: 'stdio', revision: '2025-11-25', target: stdio },
];

describe.each(rows)(
  'the demo over $over, $revision',
  ({ over, revision, target, options = { revision } }) => {
    let own: Rig;
    let id: string;

    beforeAll(async () => {
      own = rig();
      id = await own.connect({ target: target(), options: over === 'in-process' ? {} : options });
    });
    afterAll(() => own[Symbol.asyncDispose]());

    test('is connected, with the steps that led there', () => {
      const view = own.connection(id);
      expect(view).toMatchObject({ status: 'ready', transport: over, revision, name: 'The fullmcp demo' });
      expect(
        view?.steps.some(({ what, outcome }) => /server\/discover|initialize/.test(what) && outcome === 'ok'),
      ).toBe(true);
      if (over === 'stdio') expect(view?.steps[0]?.what).toContain('start');
      for (const step of view?.steps ?? []) expect(step.ms).toBeTypeOf('number');
      expect(own.inspector.snapshot().stories.find(({ kind }) => kind === 'connect')?.state).toBe('ok');
    });

    test('lists what it has', () => {
      const catalog = own.inspector.catalog(id);
      expect(catalog?.tools.map(({ tool }) => tool.name)).toContain('order_pizza');
      expect(catalog?.resources.length).toBe(2);
      expect(catalog?.templates.length).toBe(1);
      expect(catalog?.prompts.length).toBe(1);
      expect(catalog?.failures).toEqual([]);
      expect(catalog?.tokens).toBeGreaterThan(100);
    });

    test('calls a tool, and keeps its messages', async () => {
      const { story } = await own.run('call', { connection: id, tool: 'add', args: { a: 2, b: 40 } });
      const ended = await own.ended(story);
      expect(ended).toMatchObject({
        state: 'ok',
        kind: 'tool',
        title: 'add',
        outcome: { content: [{ type: 'text', text: '42' }] },
        rounds: [{ outcome: 'ok' }],
      });
      const heads = own.inspector.snapshot().messages.filter((head) => head.story === story);
      expect(heads.map(({ from, kind, method }) => `${from} ${kind} ${method}`)).toEqual([
        'client request tools/call',
        'server response tools/call',
      ]);
      const text = own.inspector.message(heads[0]?.seq ?? 0)?.text ?? '';
      expect(JSON.parse(text)).toMatchObject({ method: 'tools/call', params: { name: 'add' } });
      if (over === 'http') expect(ended.rounds[0]?.http).toMatchObject({ method: 'POST', status: 200 });
    });

    test('answers both questions of a pizza, whose rounds are one story', async () => {
      const { story } = await own.run('call', { connection: id, tool: 'order_pizza', args: {} });
      const first = await own.question(story);
      expect(first).toMatchObject({ kind: 'form', message: 'What would you like?', key: 'pizza' });
      expect(own.story(story).state).toBe('asks');
      await own.run('answer', {
        story,
        question: first.id,
        answer: { action: 'accept', content: { size: 'large', toppings: ['ham'] } },
      });
      const second = await own.question(story, ({ id: other }) => other !== first.id);
      expect(second.message).toContain('A large one with ham');
      await own.run('answer', {
        story,
        question: second.id,
        answer: { action: 'accept', content: { sure: true } },
      });
      const ended = await own.ended(story);
      expect(ended.state).toBe('ok');
      expect(JSON.stringify(ended.outcome)).toContain('ready in ten minutes');
      expect(ended.questions).toHaveLength(2);
      const isModern = revision === '2026-07-28';
      expect(ended.rounds.map(({ outcome }) => outcome)).toEqual(isModern ? ['asks', 'asks', 'ok'] : ['ok']);
      expect(ended.questions.map(({ round }) => round)).toEqual(isModern ? [1, 2] : [1, 1]);
      if (isModern) expect(ended.rounds[1]?.stateBytes).toBeGreaterThan(0);
      expect(ended.journal).toMatchObject({ hasSteps: false, rows: [{ key: 'pizza' }, { key: 'sure' }] });
      // Everything belongs to the call: nothing of it is unsolicited.
      const heads = own.inspector.snapshot().messages.filter((head) => head.story === story);
      const [asks, answers] = isModern
        ? ['client request tools/call', 'server response tools/call']
        : ['server request elicitation/create', 'client response elicitation/create'];
      expect(heads.map(({ method, from, kind }) => `${from} ${kind} ${method}`)).toEqual([
        'client request tools/call',
        ...(isModern ? [answers, asks, answers, asks] : [asks, answers, asks, answers]),
        'server response tools/call',
      ]);
    });

    test('shows progress as ticks of the call', async () => {
      const { story } = await own.run('call', {
        connection: id,
        tool: 'countdown',
        args: { from: 3, stepMs: 5 },
      });
      const ended = await own.ended(story);
      expect(ended.ticks.filter(({ kind }) => kind === 'progress').map(({ text }) => text)).toEqual([
        '0 of 3: 3 to go',
        '1 of 3: 2 to go',
        '2 of 3: 1 to go',
      ]);
    });

    test('stops a call', async () => {
      const { story } = await own.run('call', {
        connection: id,
        tool: 'countdown',
        args: { from: 60, stepMs: 1000 },
      });
      await own.until('progress', () => own.story(story).progress);
      await own.run('stop', { story });
      expect((await own.ended(story)).state).toBe('cancelled');
      await expect(own.run('stop', { story })).rejects.toThrow('over already');
    });

    test('bakes bread', async () => {
      const { story } = await own.run('call', {
        connection: id,
        tool: 'bake_bread',
        args: { stepMs: 5 },
        asTask: true,
      });
      const question = await own.question(story);
      await own.run('answer', {
        story,
        question: question.id,
        answer: { action: 'accept', content: { crust: 'golden' } },
      });
      const ended = await own.ended(story);
      expect(ended.state).toBe('ok');
      expect(JSON.stringify(ended.outcome)).toContain('A golden bread');
      if (revision !== '2024-11-05') {
        expect(ended.task).toMatchObject({ status: 'completed' });
        expect(ended.task?.polls).toBeGreaterThan(0);
      }
      expect(ended.rounds.length).toBe(1);
    });

    test('reads, completes, gets a prompt and checks an output', async () => {
      const read = await own.run('read', { connection: id, uri: 'demo://readme' });
      expect(JSON.stringify((await own.ended(read.story)).outcome)).toContain('demo of fullmcp');
      const completion = await own.run('complete', {
        connection: id,
        ref: { prompt: 'explain' },
        argument: 'topic',
        value: 'b',
      });
      expect(completion.values).toContain('bridges');
      const prompt = await own.run('prompt', { connection: id, name: 'explain', args: { topic: 'bread' } });
      expect(JSON.stringify((await own.ended(prompt.story)).outcome)).toContain('Explain bread');
      const dice = await own.run('call', { connection: id, tool: 'roll_dice', args: {} });
      const { outputCheck } = await own.ended(dice.story);
      expect(outputCheck).toEqual({ result: 'fits' });
      const failed = await own.run('call', { connection: id, tool: 'find_order', args: { id: 9 } });
      expect((await own.ended(failed.story)).state).toBe('tool-error');
    });

    test('subscribes, and counts the updates', async () => {
      const { story } = await own.run('subscribe', { connection: id, uri: 'notes://all' });
      await own.until(
        'the acknowledgement',
        () => (own.story(story).lastMessage ?? 0) > (own.story(story).firstMessage ?? 0),
      );
      await own.run('call', { connection: id, tool: 'add_note', args: { text: 'hello' } });
      await own.until('an update', () => (own.connection(id)?.subscriptions[0]?.updates ?? 0) > 0);
      expect(own.story(story)).toMatchObject({ state: 'open', kind: 'subscription' });
      await own.until('a tick', () =>
        own.story(story).ticks.some(({ text }) => text === 'notes://all changed'),
      );
      await own.run('unsubscribe', { connection: id, uri: 'notes://all' });
      expect((await own.ended(story)).state).toBe('ok');
      expect(own.connection(id)?.subscriptions).toEqual([]);
    });
  },
);
