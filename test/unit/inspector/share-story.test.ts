import { describe, expect, it } from 'vitest';
import type { Story } from '../../../src/inspector/contract/story.js';
import { sharedStory } from '../../../src/inspector/stories/share-story.js';

// A story that is shared is one HTML file. Everything that a server put into it is text there.

const HOSTILE = [
  '</pre></main><script>alert(1)</script>',
  '</title><svg onload=alert(1)>',
  '<!-- <script> ',
  '--><img src=x onerror=alert(1)>',
  ']]><?xml ?>',
  '"><a href="javascript:alert(1)">x</a>',
  "' onclick='alert(1)",
  '&lt;script&gt;',
  'a\u2028b\u2029c\u202ed\u0000e\u001b[2Jf\ufeff',
].join('\n');

function story(text: string, more: Partial<Story> = {}): Story {
  return {
    id: 1,
    connection: text,
    kind: 'tool',
    title: text,
    method: text,
    args: { [text]: text },
    state: 'ok',
    at: 0,
    serverMs: 1,
    youMs: 0,
    rounds: [],
    ticks: [{ at: 0, kind: 'log', text }],
    droppedTicks: 0,
    questions: [
      { id: 'q1', kind: 'url', message: text, url: text, answer: { [text]: text }, at: 0, round: 1 },
    ],
    error: { code: text, message: text },
    outcome: { content: [{ type: 'text', text }], [text]: text },
    ...more,
  } as unknown as Story;
}

const facts = (text: string, outcome?: string) => ({
  server: text,
  revision: text,
  version: '1.0.0',
  outcome,
  definition: undefined,
  mask: (value: string) => value,
});

const SECRET = 'open-sesame-4711';
const CONNECTION = 'key-of-the-connection';
const QUESTION = { id: 'q1', kind: 'form', message: 'Well?', at: 0, round: 1 } as const;

const tagsOf = (html: string): readonly string[] => html.match(/<[^>]*>/g) ?? [];

describe('a story that is shared', () => {
  it('has the same elements whatever a server has put into it, and no character that hides or turns around others', () => {
    const [plain, hostile] = ['plain', HOSTILE].map((text) => sharedStory(story(text), facts(text)));
    expect(tagsOf(hostile ?? '')).toEqual(tagsOf(plain ?? ''));
    for (const character of ['\u2028', '\u2029', '\u202e', '\u0000', '\u001b', '\ufeff'])
      expect(hostile).not.toContain(character);
    expect(hostile).not.toContain('<!--');
    expect(hostile).toContain('&lt;/pre&gt;');
    expect(hostile).toContain('&amp;lt;script&amp;gt;');
  });

  it('runs nothing, loads nothing and leads nowhere', () => {
    const html = sharedStory(story(HOSTILE), facts(HOSTILE));
    expect(html).toContain(
      "default-src 'none'; style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'",
    );
    const tags = tagsOf(html);
    // The one picture is our mark.
    expect(tags.filter((tag) => tag.startsWith('<svg'))).toEqual([
      expect.stringMatching(/^<svg class="mark" /),
    ]);
    for (const tag of tags.filter((one) => !one.startsWith('<svg class="mark"')))
      expect(tag).not.toMatch(/^<(?:script|a|img|svg|iframe|link|form|object|base)\b|\son\w+=|src=|href=/i);
  });

  it('is cut if a result is huge, and says how much is missing', () => {
    const outcome = JSON.stringify({ content: [{ type: 'text', text: '<b>'.repeat(2_000_000) }] });
    const html = sharedStory(story('plain'), facts('plain', outcome));
    expect(html.length).toBeLessThan(3_000_000);
    expect(html).toMatch(/… \(\d{7} more characters\)/);
    expect(tagsOf(html)).toEqual(tagsOf(sharedStory(story('plain'), facts('plain'))));
  });

  it('has no secrets of arguments, wherever a server repeats them', () => {
    const html = sharedStory(
      story('plain', {
        args: { login: { password: SECRET } },
        ticks: [{ at: 0, kind: 'log', text: `in with ${SECRET}` }],
        outcome: { content: [{ type: 'text', text: `in with ${SECRET}` }] },
      }),
      facts('plain'),
    );
    expect(html.includes(SECRET)).toBe(false);
  });

  it.each([
    ['in the URI that was read', { title: `vault://notes?token=${SECRET}` }],
    ['in a field that the schema of the tool marks', { args: { seed: SECRET } }],
    [
      'in a field that the schema of a question marks',
      {
        args: {},
        questions: [
          {
            ...QUESTION,
            schema: { properties: { answer: { type: 'string', writeOnly: true } } },
            answer: { action: 'accept', content: { answer: SECRET } },
          },
        ],
      },
    ],
    [
      'of the connection, in a question',
      { questions: [{ ...QUESTION, message: `Is ${CONNECTION} yours?` }] },
    ],
    ['of the connection, in the URI that was read', { title: `notes://${CONNECTION}` }],
  ] as const)('has no secret %s', (_, more) => {
    const { args, ...rest } = { args: undefined, ...more };
    const html = sharedStory(
      story(`plain ${SECRET}`, {
        method: 'tools/call',
        ...rest,
        args: args ?? { password: SECRET },
      } as Partial<Story>),
      {
        ...facts('plain'),
        definition: { inputSchema: { properties: { seed: { type: 'string', format: 'password' } } } },
        mask: (value) => value.replaceAll(CONNECTION, '…'),
      },
    );
    expect(html.includes(SECRET)).toBe(false);
    expect(html.includes(CONNECTION)).toBe(false);
  });

  it('has no secret of the result in what the server said before', () => {
    const html = sharedStory(
      story('plain', {
        questions: [{ ...QUESTION, message: `Your session is ${SECRET}.` }],
        ticks: [{ at: 0, kind: 'log', text: `opened ${SECRET}` }],
        error: { code: 'failed', message: `${SECRET} has ended` },
      }),
      facts('plain', JSON.stringify({ structuredContent: { session_token: SECRET } })),
    );
    expect(html.includes(SECRET)).toBe(false);
  });
});
