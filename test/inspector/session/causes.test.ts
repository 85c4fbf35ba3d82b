import { fileURLToPath } from 'node:url';
import { createServer, tool } from 'fullmcp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openTarget } from '../../../src/cli/inspecting/open-target.js';
import type { Revision } from '../../../src/protocol/tables/revisions.js';
import { type Rig, rig } from './rig.js';

// From a failure to its cause: what a process wrote, which line threw, and which call asks.

const zoo = fileURLToPath(new URL('./fixtures/zoo.js', import.meta.url));

let own: Rig;
let id: string;
beforeEach(() => {
  own = rig();
});
afterEach(() => own[Symbol.asyncDispose]());

async function connect(revision?: Revision): Promise<void> {
  const opened = await openTarget(
    { text: zoo, ...(revision !== undefined && { revision }) },
    { places: async () => [], used: undefined as never },
  );
  id = await own.connect(opened);
}

const call = async (name: string) => (await own.run('call', { connection: id, tool: name, args: {} })).story;
const answer = { action: 'accept', content: { word: 'open sesame' } };

describe('a server that dies during a call', () => {
  test('leaves its last words in the call, in order, without those of earlier calls and without reports of journals', async () => {
    await connect();
    const asking = await call('asks');
    const { id: question } = await own.question(asking);
    await own.run('answer', { story: asking, question, answer });
    await own.ended(asking);
    await own.ended(await call('mutters'));
    // The line and the result come through two pipes.
    await own.until('the line', () => own.events.some((event) => JSON.stringify(event).includes('giraffe')));
    const { error } = await own.ended(await call('dies'));
    expect(error).toMatchObject({
      code: 'connection_closed',
      message: `The server ${JSON.stringify(zoo)} has ended with exit code 3.`,
      output: {
        cause: 'FATAL: out of cheese',
        lines: ['the fence is open', 'FATAL: out of cheese'],
        earlier: ['the giraffe is hungry'],
      },
    });
    expect(JSON.stringify(error)).not.toMatch(/FULLMCP_JOURNAL|sesame|hay for|fullmcp\.js/);
  });

  test('without a word has no report of a journal in its failure either', async () => {
    await connect();
    const { error } = await own.ended(await call('vanishes'));
    expect(error?.message).toBe(`The server ${JSON.stringify(zoo)} has ended with exit code 3.`);
    expect(JSON.stringify(error)).not.toMatch(/FULLMCP_JOURNAL|hay for/);
  });

  test('is the failure of its connection, with the cause apart from the rest', async () => {
    await connect();
    await own.ended(await call('dies'));
    const failure = await own.until('the failure', () =>
      own.events
        .flatMap((event) => (event.type === 'connection' ? (event.connection.failure ?? []) : []))
        .at(0),
    );
    expect(failure.output?.cause).toBe('FATAL: out of cheese');
    expect(failure.message).not.toContain('cheese');
  });

  test('names the error that nobody caught, and not the version of the runtime below it', async () => {
    await connect();
    const { error } = await own.ended(await call('throws_late'));
    expect(error?.output?.cause).toBe('TypeError: order 8 has no price');
  });
});

describe('the reference of a masked error', () => {
  test('leads to a line of the log with the stack, and with the line of the handler', async () => {
    await connect();
    const { outcome } = await own.ended(await call('crashes'));
    const [, ref] = /ref ([0-9a-f]{8})/.exec(JSON.stringify(outcome)) ?? [];
    const line = await own.until('the line', () =>
      own.inspector.snapshot().logs.find(({ error }) => error?.ref === ref),
    );
    expect(line.error).toMatchObject({
      title: 'TypeError: order 7 has no price',
      own: expect.stringMatching(/^pay \(.*zoo\.js:\d+:\d+\)$/),
      stack: expect.stringContaining('TypeError: order 7 has no price\n    at pay'),
    });
    expect(line.text).toBe(`Tool "crashes" failed (ref ${ref}): TypeError: order 7 has no price`);
  });

  test('leads to a line that the program around the inspector has read, as `fullmcp dev` does', async () => {
    await own.begin({ target: createServer({ name: 'any', version: '1.0.0' }) });
    await own.inspector.open({ text: 'test' });
    const error = {
      name: 'Error',
      message: 'no hay',
      stack: 'Error: no hay\n    at feed (/zoo/server.js:3:1)',
    };
    own.inspector.stderrLine(
      JSON.stringify({ level: 'error', message: 'Tool "a" failed (ref 0011aabb)', error }),
    );
    expect(own.inspector.snapshot().logs.at(-1)).toMatchObject({
      source: 'stderr',
      error: { ref: '0011aabb', own: 'feed (/zoo/server.js:3:1)' },
    });
  });

  test('leads to the stack of a server in the same process, too', async () => {
    const server = createServer({
      name: 'inside',
      version: '1.0.0',
      logger: () => undefined,
      tools: {
        crashes: tool({
          run: () => {
            throw new RangeError('too many zebras');
          },
        }),
      },
    });
    id = await own.connect({ target: server });
    const { outcome } = await own.ended(await call('crashes'));
    const [, ref] = /ref ([0-9a-f]{8})/.exec(JSON.stringify(outcome)) ?? [];
    const line = own.inspector.snapshot().logs.find(({ error }) => error?.ref === ref);
    expect(line?.error?.title).toBe('RangeError: too many zebras');
    expect(line?.error?.own).toContain('causes.test');
  });
});

describe('log messages of the newest revision', () => {
  test('are asked for from info up, until the user chooses otherwise', async () => {
    await connect();
    expect(own.connection(id)?.logLevel).toBe('info');
    const { ticks } = await own.ended(await call('chatty'));
    expect(ticks).toMatchObject([{ kind: 'log', text: 'the lion sleeps' }]);
    await own.run('logLevel', { connection: id, level: undefined });
    expect((await own.ended(await call('chatty'))).ticks).toEqual([]);
    await own.run('reconnect', { connection: id });
    await own.until('the connection', () => own.connection(id)?.status === 'ready');
    expect(own.connection(id)?.logLevel).toBeUndefined();
  });

  test('are not asked for in a session, where the server decides', async () => {
    await connect('2025-11-25');
    expect(own.connection(id)?.logLevel).toBeUndefined();
  });

  test('are in the story of their call while another call waits for an answer', async () => {
    await connect();
    const asking = await call('asks');
    await own.question(asking);
    const { ticks } = await own.ended(await call('chatty'));
    expect(ticks).toMatchObject([{ kind: 'log', text: 'the lion sleeps' }]);
    expect(own.story(asking).ticks).toEqual([]);
  });
});

describe('log messages on stdio, while two calls are at work', () => {
  test('are in no call, because nothing says which one has logged', async () => {
    await connect();
    const napping = await call('naps');
    await own.until('the call', () => own.story(napping).rounds.length === 1);
    const { ticks } = await own.ended(await call('chatty'));
    expect(ticks).toEqual([]);
    expect(own.story(napping).ticks).toEqual([]);
    const unsolicited = (): readonly string[] =>
      own.inspector
        .snapshot()
        .stories.filter(({ kind }) => kind === 'unsolicited')
        .flatMap((story) => story.ticks.map(({ text }) => text));
    await own.until('the message', () => unsolicited().includes('the lion sleeps'));
    await own.run('stop', { story: napping });
    await own.ended(napping);
    expect((await own.ended(await call('chatty'))).ticks).toMatchObject([{ text: 'the lion sleeps' }]);
  });
});

describe('a question in a session on stdio, while two calls run', () => {
  test('is shown in both calls, whose time it stops, and is answered in either', async () => {
    await connect('2025-11-25');
    const [first, second] = [await call('asks'), await call('asks')];
    await own.until('two questions', () => own.story(second).questions.length === 2);
    for (const story of [first, second].map(own.story))
      expect([story.state, story.questions.at(-1)?.mayBeOf]).toEqual([
        'asks',
        [
          { story: first, title: 'asks' },
          { story: second, title: 'asks' },
        ],
      ]);
    expect(
      own.inspector
        .snapshot()
        .stories.filter(({ kind }) => kind === 'unsolicited')
        .flatMap(({ questions }) => questions),
    ).toEqual([]);
    for (const question of own.story(second).questions)
      await own.run('answer', { story: second, question: question.id, answer });
    for (const story of [first, second])
      expect(await own.ended(story)).toMatchObject({ state: 'ok', outcome: { content: [{ text: 'fed' }] } });
  });

  test('is no longer shown in a call that ends while the question is open', async () => {
    await connect('2025-11-25');
    const quiet = await call('naps');
    const asking = await call('asks');
    await own.until('the question', () => own.story(quiet).questions.length === 1);
    await own.run('stop', { story: quiet });
    await own.ended(quiet);
    expect(own.story(quiet).questions).toEqual([]);
    const [question] = own.story(asking).questions;
    expect(question?.mayBeOf).toBeUndefined();
    await own.run('answer', { story: asking, question: question?.id ?? '', answer });
    expect((await own.ended(asking)).state).toBe('ok');
  });
});
