import { describe, expect, test } from 'vitest';
import { closest } from '../../../../inspector/parts/close-names.js';
import { webAddress } from '../../../../inspector/parts/controls/web-link.js';
import { differenceOf } from '../../../../inspector/parts/values/json-difference.js';
import { blocksOf, looksLikeMarkdown } from '../../../../inspector/parts/values/markdown/blocks.js';
import { Inline } from '../../../../inspector/parts/values/markdown/inline.js';
import { serverWords } from '../../../../inspector/places/tools/server-words.js';
import { readOutcome } from '../../../../inspector/results/read-outcome.js';
import { tableOf } from '../../../../inspector/results/value-table.js';
import type { Story } from '../../../../src/inspector/contract/story.js';
import { growth } from '../../../support/growth.js';

interface Node {
  readonly type: unknown;
  readonly props: { readonly children?: unknown; readonly href?: string };
}

/** The content of a component, as text with the names of its elements. */
function shown(node: unknown): string {
  if (node === null || node === undefined || typeof node === 'boolean') return '';
  if (typeof node === 'string' || typeof node === 'number') return String(node);
  if (Array.isArray(node)) return node.map(shown).join('');
  const { type, props } = node as Node;
  if (typeof type === 'string') {
    const href = props.href === undefined ? '' : ` ${props.href}`;
    return `<${type}${href}>${shown(props.children)}</${type}>`;
  }
  return shown((type as (props: object) => unknown)(props));
}

function inline(text: string): string {
  return shown(Inline({ text }));
}

describe('Markdown', () => {
  test('is read into headings, lists, tables, fences, quotes and paragraphs', () => {
    const text =
      '# Title\n\none\ntwo\n\n- a\n- b\n  1. c\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```ts\n- code\n```\n\n> quote\n\n---';
    expect(blocksOf(text)).toEqual([
      { kind: 'heading', level: 1, text: 'Title' },
      { kind: 'paragraph', text: 'one\ntwo' },
      {
        kind: 'list',
        isOrdered: false,
        start: 1,
        items: [
          [{ kind: 'paragraph', text: 'a' }],
          [
            { kind: 'paragraph', text: 'b' },
            { kind: 'list', isOrdered: true, start: 1, items: [[{ kind: 'paragraph', text: 'c' }]] },
          ],
        ],
      },
      {
        kind: 'table',
        rows: [
          ['x', 'y'],
          ['1', '2'],
        ],
      },
      { kind: 'code', language: 'ts', text: '- code' },
      { kind: 'quote', blocks: [{ kind: 'paragraph', text: 'quote' }] },
      { kind: 'rule' },
    ]);
  });

  test('marks words inside a line, and leaves names with underscores alone', () => {
    expect(inline('a **bold** and *light* `co*de*` ~~gone~~ order_pizza_now')).toBe(
      'a <strong>bold</strong> and <em>light</em> <code>co*de*</code> <s>gone</s> order_pizza_now',
    );
    expect(inline('2 * 3 * 4 and **open')).toBe('2 * 3 * 4 and **open');
  });

  test('links to the web only', () => {
    expect(inline('[a](https://example.org/x)')).toBe('<a https://example.org/x>a</a>');
    expect(inline('see https://example.org.')).toBe('see <a https://example.org/>https://example.org</a>.');
    for (const address of [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      ' java\nscript:x',
    ])
      expect(inline(`[a](${address})`)).not.toContain('<a');
    expect(webAddress('JavaScript:alert(1)')).toBeUndefined();
  });

  test('never becomes HTML', () => {
    expect(inline('<img src=x onerror=alert(1)> <b>x</b>')).toBe('<img src=x onerror=alert(1)> <b>x</b>');
    expect(blocksOf('<script>alert(1)</script>')).toEqual([
      { kind: 'paragraph', text: '<script>alert(1)</script>' },
    ]);
  });

  test.each([
    ['open brackets', (chars: number) => '['.repeat(chars)],
    ['stars', (chars: number) => '*'.repeat(chars)],
    ['stars with letters', (chars: number) => '*a '.repeat(chars / 3)],
    ['nested quotes', (chars: number) => `${'>'.repeat(chars)} x`],
    // Each line is longer than the one before it by the space of its level.
    [
      'nested lists',
      (chars: number) =>
        Array.from({ length: Math.sqrt(chars) }, (_, at) => `${'  '.repeat(at)}- x`).join('\n'),
    ],
    ['open links', (chars: number) => '[a](h'.repeat(chars / 5)],
    ['back quotes', (chars: number) => '`a'.repeat(chars / 2)],
  ])('takes little time for %s', (_, make) => {
    const read = (text: string): void => {
      for (const block of blocksOf(text)) if (block.kind === 'paragraph') inline(block.text);
    };
    expect(growth(read, make(5000), make(50_000))).toBeLessThan(40);
  });

  test('is told from plain text', () => {
    expect(looksLikeMarkdown('# A\n\ntext')).toBe(true);
    expect(looksLikeMarkdown('this is **important**')).toBe(true);
    expect(looksLikeMarkdown('In oven 3, ready in ten minutes')).toBe(false);
  });
});

describe('a result', () => {
  test('shows the same thing only once', () => {
    const structuredContent = { total: 3 };
    const same = readOutcome({ structuredContent, content: [{ type: 'text', text: '{"total":3}' }] });
    expect(same).toMatchObject({ structured: structuredContent, value: [], hasText: false });
    const more = readOutcome({ structuredContent, content: [{ type: 'text', text: 'Three' }] });
    expect(more).toMatchObject({ structured: structuredContent, hasText: true });
  });

  test('with JSON in its text is that JSON, and the text beside it', () => {
    expect(readOutcome({ content: [{ type: 'text', text: '[1]' }] })).toMatchObject({
      structured: [1],
      hasText: true,
    });
    expect(readOutcome({ content: [{ type: 'text', text: '{broken' }] }).structured).toBeUndefined();
  });

  test('of a resource or a prompt has its contents and messages', () => {
    const read = readOutcome({ contents: [{ uri: 'a:b', text: 'x' }] });
    expect(read.value).toEqual([{ content: { type: 'resource', resource: { uri: 'a:b', text: 'x' } } }]);
    const prompt = readOutcome({ messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }] });
    expect(prompt.value).toEqual([{ role: 'user', content: { type: 'text', text: 'hi' } }]);
  });

  test('that is not what it should be does not break the page', () => {
    for (const content of [null, 1, 'x', [null, 1, 'x', []], { a: 1 }])
      expect(() => readOutcome({ content, structuredContent: undefined })).not.toThrow();
  });

  test('is a table if its rows are alike', () => {
    expect(tableOf({ orders: [{ id: 1 }, { id: 2, city: 'Bern' }] })).toMatchObject({
      caption: 'orders',
      columns: ['id', 'city'],
    });
    expect(tableOf([1, 2])).toBeUndefined();
    expect(tableOf({ a: [{ id: 1 }, { id: 2 }], b: 1 })).toBeUndefined();
  });

  test('is compared with the one before', () => {
    const before = { value: { a: [1, { b: 2 }] }, name: 'run #1' };
    expect(differenceOf({ a: [1, { b: 2 }] }, before)).toBeUndefined();
    expect(differenceOf({ a: [1, { b: 3 }] }, before)).toMatchObject({ kind: 'changed' });
    expect(differenceOf(1, { value: undefined, name: 'run #1' })).toEqual({ kind: 'new', name: 'run #1' });
  });
});

test('the words of the server about an argument stand beside its field', () => {
  const message =
    'Invalid arguments for add. a: expected a number, got "x"; lines[0].sku: is missing. other: no field';
  const story = { state: 'error', error: { code: 'invalid_params', message } } as unknown as Story;
  const schema = { properties: { a: {}, lines: {} } };
  expect([...serverWords(story, schema)]).toEqual([
    ['/a', 'expected a number, got "x"'],
    ['/lines/0/sku', 'is missing'],
  ]);
  expect(serverWords({ ...story, state: 'ok' }, schema).size).toBe(0);
});

test('a close name is a hint, and a far one is not', () => {
  const names = [{ name: 'order_pizza' }, { name: 'add' }];
  expect(closest('piza', names)?.name).toBe('order_pizza');
  expect(closest('ad', names)?.name).toBe('add');
  expect(closest('weather', names)).toBeUndefined();
});
