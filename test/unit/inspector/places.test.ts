import { describe, expect, test } from 'vitest';
import { contextOf, Suggestions } from '../../../inspector/form/completion/suggestions.js';
import { folded, lineDifference } from '../../../inspector/parts/values/line-difference.js';
import { base64Bytes, hexHead } from '../../../inspector/places/resources/content/hex.js';
import { readTemplate } from '../../../inspector/places/resources/template-values.js';
import { clientOffers, serverOffers } from '../../../inspector/places/server/about/capabilities.js';
import {
  authSentence,
  claimsOf,
  expiry,
  loginAddress,
} from '../../../inspector/places/server/auth/auth-words.js';
import { latencyOf } from '../../../inspector/places/server/latency.js';

describe('a URI template in the inspector', () => {
  test('becomes one field for each variable, of which only those in the path are required', () => {
    const { fields } = readTemplate('notes://{folder}/{+path}{?tags*,limit}');
    expect(fields).toEqual([
      { name: 'folder', isList: false, isRequired: true },
      { name: 'path', isList: false, isRequired: true },
      { name: 'tags', isList: true, isRequired: false },
      { name: 'limit', isList: false, isRequired: false },
    ]);
  });

  test('is filled with the values of its fields, encoded, without those that are empty', () => {
    const { fill } = readTemplate('notes://{folder}/{+path}{?tags*,limit}');
    expect(fill({ folder: 'a b', path: 'x/y', tags: 'one, two', limit: '' })).toBe(
      'notes://a%20b/x/y?tags=one&tags=two',
    );
  });

  test('that is broken says why instead of throwing', () => {
    expect(readTemplate('notes://{folder').fault).toContain('never closed');
  });

  test('may have a variable that is called __proto__', () => {
    expect(readTemplate('x://{__proto__}').fill(Object.fromEntries([['__proto__', 'a']]))).toBe('x://a');
  });
});

describe('the suggestions of a field', () => {
  const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

  test('are those for the latest text, even if an earlier answer comes later', async () => {
    const answers = new Map<string, (values: readonly string[]) => void>();
    const suggestions = new Suggestions(
      (value) => new Promise((resolve) => answers.set(value, (values) => resolve({ values }))),
      0,
    );
    suggestions.type('a', {});
    await soon();
    suggestions.type('ab', {});
    await soon();
    answers.get('ab')?.(['abc']);
    answers.get('a')?.(['axe']);
    await soon();
    expect(suggestions.suggested.value.values).toEqual(['abc']);
  });

  test('are asked for once while somebody types without a pause', async () => {
    const asked: string[] = [];
    const suggestions = new Suggestions(async (value) => {
      asked.push(value);
      return { values: [] };
    }, 2);
    for (const text of ['a', 'ab', 'abc']) suggestions.type(text, {});
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(asked).toEqual(['abc']);
  });

  test('are bounded, and without what is not a string', async () => {
    const many = [7, ...Array.from({ length: 300 }, (_, at) => `v${at}`)] as string[];
    const suggestions = new Suggestions(async () => ({ values: many }), 0);
    suggestions.type('v', {});
    await soon();
    expect(suggestions.suggested.value.values).toHaveLength(100);
    expect(suggestions.suggested.value.hasMore).toBe(true);
  });

  test('say why there are none if the server fails', async () => {
    const suggestions = new Suggestions(() => Promise.reject(new Error('Not today.')), 0);
    suggestions.type('v', {});
    await soon();
    expect(suggestions.failure.value).toBe('Not today.');
  });

  test('get the filled values of the other fields as their context', () => {
    expect(contextOf({ owner: 'ann', repo: 're', branch: '' }, 'repo')).toEqual({ owner: 'ann' });
  });
});

describe('the difference between two contents', () => {
  const marks = (before: string, after: string): string[] =>
    lineDifference(before, after).map(
      ({ kind, text }) => `${kind === 'same' ? ' ' : kind === 'added' ? '+' : '-'}${text}`,
    );

  test('marks lines that were added, removed and changed', () => {
    expect(marks('a\nb\nc\nd', 'a\nx\nc\nd\ne')).toEqual([' a', '-b', '+x', ' c', ' d', '+e']);
  });

  test('is empty for equal contents', () => {
    expect(marks('a\nb', 'a\nb')).toEqual([' a', ' b']);
  });

  test('of two huge contents is a replacement, not a hang', () => {
    const text = (word: string): string => Array.from({ length: 3000 }, (_, at) => `${word}${at}`).join('\n');
    const lines = lineDifference(text('a'), text('b'));
    expect(lines.filter(({ kind }) => kind === 'removed')).toHaveLength(3000);
    expect(lines.filter(({ kind }) => kind === 'added')).toHaveLength(3000);
  });

  test('folds the equal lines that are far from a change', () => {
    const lines = lineDifference('1\n2\n3\n4\n5\n6\n7', '1\n2\n3\n4\n5\n6\n8');
    expect(folded(lines, 1).map((line) => (typeof line === 'number' ? line : line.text))).toEqual([
      5,
      '6',
      '7',
      '8',
    ]);
  });
});

test('a binary is shown as rows of sixteen bytes', () => {
  const base64 = btoa('Hello, bytes!\u0000\u0001\u00ffmore');
  expect(hexHead(base64)).toEqual([
    {
      offset: '000000',
      bytes: '48 65 6c 6c 6f 2c 20 62 79 74 65 73 21 00 01 ff',
      characters: 'Hello, bytes!...',
    },
    { offset: '000010', bytes: '6d 6f 72 65', characters: 'more' },
  ]);
  expect(base64Bytes(base64)).toBe(20);
  expect(hexHead('no base64 at all!')).toBeUndefined();
});

describe('the latency of a connection', () => {
  test('has steps without gaps from the fastest call to the slowest', () => {
    const latency = latencyOf([0.4, 3, 4, 12, 130]);
    expect(latency?.steps).toEqual([
      { from: 0, to: 1, count: 1 },
      { from: 1, to: 2, count: 0 },
      { from: 2, to: 5, count: 2 },
      { from: 5, to: 10, count: 0 },
      { from: 10, to: 20, count: 1 },
      { from: 20, to: 50, count: 0 },
      { from: 50, to: 100, count: 0 },
      { from: 100, to: 200, count: 1 },
    ]);
    expect(latency).toMatchObject({ count: 5, median: 4, p90: 130, p99: 130, slowest: 130 });
  });

  test('puts a time on a border into the step that begins there', () => {
    expect(latencyOf([5, 1000])?.steps.filter(({ count }) => count > 0)).toEqual([
      { from: 5, to: 10, count: 1 },
      { from: 1000, to: 2000, count: 1 },
    ]);
  });

  test('is undefined without calls', () => expect(latencyOf([])).toBeUndefined());
});

describe('capabilities', () => {
  test('are named, with the options that are on, and so are those that are missing', () => {
    const { offered, missing } = serverOffers({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: false },
      extensions: { 'io.modelcontextprotocol/ui': {} },
    });
    expect(offered).toEqual([
      { name: 'tools', notes: ['reports changes'] },
      { name: 'resources', notes: ['subscriptions'] },
      { name: 'io.modelcontextprotocol/ui', notes: ['extension'] },
    ]);
    expect(missing).toEqual(['prompts', 'completions', 'logging', 'tasks']);
  });

  test('of the client name the kinds of questions', () => {
    expect(clientOffers({ elicitation: { form: {}, url: {} } }).offered).toEqual([
      { name: 'elicitation', notes: ['forms', 'links'] },
    ]);
  });
});

describe('the authorization in words', () => {
  const noon = new Date(2026, 10, 17, 12, 0).getTime();

  test('says until when a token lasts', () => {
    expect(expiry(noon + 300_000, noon)).toBe('until 12:05');
    expect(expiry(noon - 300_000, noon)).toBe('expired 11:55');
    expect(expiry(noon + 86_400_000, noon)).toBe('until 18 Nov, 12:00');
  });

  test('names the step that failed', () => {
    const hops = [{ name: 'registration', at: 0, outcome: 'failed' }] as const;
    expect(authSentence({ state: 'failed', hops }, noon)).toBe('The login failed at “register”.');
  });

  test('explains the claims of a token', () => {
    expect(claimsOf({ exp: noon / 1000 + 300, aud: ['a'], x: 1 }, noon)).toEqual([
      { name: 'exp', meaning: 'expires', value: String(noon / 1000 + 300), time: '12:05' },
      { name: 'aud', meaning: 'audience', value: '["a"]' },
      { name: 'x', value: '1' },
    ]);
  });

  test('opens no login page but one of http and https', () => {
    expect(loginAddress('https://login.example.com/x')?.host).toBe('login.example.com');
    expect(loginAddress('javascript:alert(1)')).toBeUndefined();
    expect(loginAddress('nonsense')).toBeUndefined();
  });
});
