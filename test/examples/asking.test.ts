import { type InProcess, inProcess } from 'fullmcp';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { drive } from '../../examples/asking/answer.js';
import { cloud } from '../../examples/asking/cloud.js';
import { build, strict } from '../../examples/asking/secret.js';
import server from '../../examples/asking/server.js';

// Runs the code that docs/asking.md shows.

const able = { capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} } };
const call = inProcess(server, able);
const accept = (content: object) => ({ action: 'accept', content });
const sampled = (text: string) => ({ role: 'assistant', model: 'small', content: { type: 'text', text } });

type Answer = Parameters<typeof drive>[3];

function run(name: string, args: object, answer: Answer): Promise<Record<string, unknown>> {
  return drive(call, 'tools/call', { name, arguments: args }, answer);
}

beforeEach(() => {
  cloud.machines = [];
  cloud.log = [];
});

describe('a side effect of a handler that asks', () => {
  const sure = (): object => accept({ sure: true });

  test('happens again in every round outside a step', async () => {
    await run('wrong', { app: 'shop' }, sure);
    expect(cloud.machines).toHaveLength(2);
  });

  test('happens only once inside a step', async () => {
    const { content } = await run('right', { app: 'shop' }, sure);
    expect(content).toMatchObject([{ text: 'https://vm-1.example.com' }]);
    expect(cloud.machines).toHaveLength(1);
  });
});

describe('the deploy example', () => {
  const answers = (sure: boolean): Answer => {
    return (key) => accept(key === 'size' ? { size: 'large' } : { sure });
  };

  test('deploys to the machine that the user chose if the user agrees', async () => {
    const { content } = await run('deploy', { app: 'shop' }, answers(true));
    expect(content).toMatchObject([{ text: 'https://vm-1.example.com' }]);
    expect(cloud.machines).toMatchObject([{ size: 'large' }]);
    expect(cloud.log).toEqual([expect.stringMatching(/^create vm-1 [\w-]{36}:create$/)]);
  });

  test('removes the machine if the user does not agree', async () => {
    const { content } = await run('deploy', { app: 'shop' }, answers(false));
    expect(content).toMatchObject([{ text: /^Not deployed/ }].map(matching));
    expect([cloud.machines, cloud.log.length]).toEqual([[], 1]);
  });
});

describe('the examples of questions', () => {
  const trip = {
    name: 'Ada',
    email: 'ada@example.com',
    day: '2026-08-01',
    meal: 'fish',
    seat: '1',
    extras: ['wifi'],
  };

  test('show every kind of form field', async () => {
    let schema: unknown;
    const { content } = await run('book', {}, (_key, { params }) => {
      schema = params?.['requestedSchema'];
      return accept(trip);
    });
    expect(content).toMatchObject([{ text: 'Booked for Ada, bags: 1' }]);
    expect(schema).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 80, title: 'Name on the ticket' },
        email: { type: 'string', format: 'email' },
        day: { type: 'string', format: 'date', description: 'The day you leave' },
        bags: { type: 'integer', minimum: 0, maximum: 3, default: 1 },
        window: { type: 'boolean' },
        meal: { type: 'string', enum: ['none', 'vegetarian', 'fish'] },
        seat: {
          type: 'string',
          oneOf: [
            { const: '1', title: 'First class' },
            { const: '2', title: 'Second class' },
          ],
        },
        extras: { type: 'array', maxItems: 2, items: { type: 'string', enum: ['wifi', 'lounge', 'bike'] } },
      },
      required: ['name', 'email', 'day', 'meal', 'seat', 'extras'],
    });
  });

  test('ask again for an answer that does not fit the form', async () => {
    let times = 0;
    await run('book', {}, () => accept(++times === 1 ? { ...trip, seat: '3' } : trip));
    expect(times).toBe(2);
  });

  test.each([
    ['decline', { content: [{ text: 'The user does not want to book.' }] }],
    ['cancel', { isError: true, content: [{ text: /^The user closed the form/ }] }],
  ])('let the user %s a form', async (action, expected) => {
    expect(await run('book', {}, () => ({ action }))).toMatchObject(matching(expected) as object);
  });

  test('send a URL that stays the same in every round', async () => {
    let url = '';
    const { content } = await run('connect', {}, (_key, { params }) => {
      url = String(params?.['url']);
      return { action: 'accept' };
    });
    const id = new URL(url).searchParams.get('id');
    expect(content).toMatchObject([{ text: `Opened. Look up ${id} to see if it is done.` }]);
  });

  test("ask the model and the client's roots, also from a resource and a prompt", async () => {
    expect(await run('title', { text: 'Ada wrote' }, () => sampled(' First Program\n'))).toMatchObject({
      content: [{ text: 'First Program' }],
    });
    const roots = { roots: [{ uri: 'file:///work' }] };
    expect(await drive(call, 'resources/read', { uri: 'folders://open' }, () => roots)).toMatchObject({
      contents: [{ text: '["file:///work"]' }],
    });
    expect(
      await drive(call, 'prompts/get', { name: 'review' }, () => accept({ focus: 'bugs' })),
    ).toMatchObject({ messages: [{ content: { text: /bugs only/ } }].map(matching) });
  });

  test('send two questions together if they are asked together', async () => {
    const first = await call('tools/call', { name: 'dinner' });
    expect(Object.keys(first['inputRequests'] as object)).toEqual(['guests', 'idea']);
  });

  test('ask in several rounds, with random values in a step', async () => {
    let [low, high] = [1, 100];
    const questions: string[] = [];
    const { content } = await run('guess', {}, (key, { params }) => {
      const [, way, than] = /^(More|Less) than (\d+)$/.exec(String(params?.['message'])) ?? [];
      if (way === 'More') low = Number(than) + 1;
      if (way === 'Less') high = Number(than) - 1;
      questions.push(key);
      return accept({ guess: Math.floor((low + high) / 2) });
    });
    expect(content).toMatchObject([{ text: `Found in ${questions.length} rounds` }]);
    expect(questions.at(-1)).toBe(`guess ${questions.length}`);
  });

  test('do without the answer of a client that cannot answer, or fail with an error', async () => {
    const unable = inProcess(server);
    const text = 'word '.repeat(100);
    expect(await unable('tools/call', { name: 'summarize', arguments: { text } })).toMatchObject({
      content: [{ text: `${text.slice(0, 200)}…` }],
    });
    expect(await run('summarize', { text }, () => sampled('Words.'))).toMatchObject({
      content: [{ text: 'Words.' }],
    });
    await expect(unable('tools/call', { name: 'book' })).rejects.toMatchObject({
      code: 'missing_capability',
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
  });

  test('ask under a longer key when one tool calls another', async () => {
    const first = await call('tools/call', { name: 'party' });
    expect(Object.keys(first['inputRequests'] as object)).toEqual(['dinner#1/guests', 'dinner#1/idea']);
    const { content } = await run('party', {}, (key) => {
      if (key === 'dinner#1/guests') return accept({ count: 4 });
      return key === 'dinner#1/idea' ? sampled('Soup') : accept({ guess: 0 });
    });
    expect(content).toMatchObject([{ text: 'Soup for 4' }, { text: /^Not found/ }].map(matching));
  });

  test('ask with the raw form of a question', async () => {
    const rating = accept({ stars: 5 });
    expect(await run('survey', { topic: 'tea' }, () => rating)).toMatchObject({
      structuredContent: { answer: rating, state: { askedAt: expect.any(Number) } },
    });
  });
});

describe('the examples of secrets', () => {
  const [first, second] = ['1'.repeat(32), '2'.repeat(32)] as const;
  const answered = { name: 'ask', inputResponses: { name: accept({ name: 'Ada' }) } };

  async function stateOf(ask: InProcess): Promise<unknown> {
    return (await ask('tools/call', { name: 'ask' }))['requestState'];
  }

  test('rotate the secret: the new one seals, and the old one still opens until it is removed', async () => {
    const before = inProcess(build([first]), able);
    const both = inProcess(build([second, first]), able);
    const later = inProcess(build([second]), able);
    const old = await stateOf(before);
    expect(await both('tools/call', { ...answered, requestState: old })).toMatchObject({
      structuredContent: { name: 'Ada' },
    });
    await expect(later('tools/call', { ...answered, requestState: old })).rejects.toThrow(
      'params.requestState was rejected',
    );
    const renewed = { ...answered, requestState: await stateOf(both) };
    expect(await later('tools/call', renewed)).toMatchObject({ structuredContent: { name: 'Ada' } });
  });

  test('accept a state only once and for a short time on a strict server', async () => {
    const ask = inProcess(strict, able);
    const once = { ...answered, requestState: await stateOf(ask) };
    expect(await ask('tools/call', once)).toMatchObject({ structuredContent: { name: 'Ada' } });
    await expect(ask('tools/call', once)).rejects.toThrow('params.requestState was rejected');
    const late = { ...answered, requestState: await stateOf(ask) };
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 10 * 60_000);
    await expect(ask('tools/call', late)).rejects.toThrow('has expired: call again without it');
    now.mockRestore();
  });
});

function matching(value: unknown): unknown {
  if (value instanceof RegExp) return expect.stringMatching(value);
  if (Array.isArray(value)) return value.map(matching);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, matching(item)]));
}
