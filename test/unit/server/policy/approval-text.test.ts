import fc from 'fast-check';
import type { PolicyRule } from 'fullmcp/middleware';
import { describe, expect, it } from 'vitest';
import { approvalText } from '../../../../src/server/policy/approval-text.js';
import { type PolicyInput, readRules } from '../../../../src/server/policy/rules.js';

const facts = { tags: [], readOnly: false, destructive: true, idempotent: false, openWorld: true };

async function ask(
  input: unknown,
  { sent = input, rule = {} }: { sent?: unknown; rule?: Partial<PolicyRule> } = {},
) {
  const use = { tool: { name: 'pay', ...facts }, auth: undefined, isLocal: false, input };
  return approvalText(use, sent as PolicyInput, readRules([{ ...rule, effect: 'approve' }]));
}

const head = 'Do you approve this call of the tool "pay"?';
const cut = 'Some of its arguments are too long to be shown in full.';

describe('the question for an approval', () => {
  it('names the tool and shows its arguments', async () => {
    expect(await ask({ to: 'Zoë', amount: 5, when: null, tags: ['a', 1], more: { deep: [true, {}] } })).toBe(
      [
        head,
        '',
        '    to: "Zoë"',
        '    amount: 5',
        '    when: null',
        '    tags: ["a", 1]',
        '    more: {"deep": [true, {}]}',
      ].join('\n'),
    );
    expect(await ask({})).toBe(`${head}\n\n    (no arguments)`);
  });

  it('has the reason of the rule', async () => {
    expect(await ask({ a: 1 }, { rule: { question: 'Payments need a person.' } })).toBe(
      `${head}\n\n    Reason: Payments need a person.\n\n    a: 1`,
    );
    const question = ({ a }: { a: number }): string => `Pay ${a}?`;
    expect(await ask({ a: 1 }, { rule: { question } as never })).toContain('    Reason: Pay 1?\n');
    await expect(ask({ a: 1 }, { rule: { question: (() => 5) as never } })).rejects.toThrow(
      /must return a string/,
    );
  });

  it('shows defaults, and not what the schema removes; a converted value as it was sent', async () => {
    const sent = { day: '2026-07-28', junk: 'x', set: ['a'] };
    const input = { day: new Date(0), set: new Set(['a']), added: 1, made: new Map() };
    expect(await ask(input, { sent })).toBe(
      `${head}\n\n    day: "2026-07-28"\n    set: ["a"]\n    added: 1\n    made: a value that cannot be shown`,
    );
    expect(await ask(new Map(), { sent: { a: 1 } })).toContain('    a: 1');
  });

  it.each([
    ['line ends', 'a\n\n\nb\r\u2028\u2029\u0085c', '"a\\n\\n\\nb\\r\\u{2028}\\u{2029}\\u{85}c"'],
    ['controls', '\u001b[2J\u0007\u009b1A', '"\\u001b[2J\\u0007\\u{9b}1A"'],
    ['a change of direction', 'a\u202etxt.exe\u2066', '"a\\u{202e}txt.exe\\u{2066}"'],
    [
      'invisible characters',
      'a\u200b\u00ad\ufeff\u{e0041}\u3164b',
      '"a\\u{200b}\\u{ad}\\u{feff}\\u{e0041}\\u{3164}b"',
    ],
    ['wide spaces', 'a\u00a0\u2003\u3000\u2800b', '"a\\u{a0}\\u{2003}\\u{3000}\\u{2800}b"'],
    ['half a character', 'a\ud83d', '"a\\ud83d"'],
    ['quotes', 'x", "to": "eve', '"x\\", \\"to\\": \\"eve"'],
  ])('writes %s as numbers', async (_, value, shown) => {
    expect(await ask({ value })).toBe(`${head}\n\n    value: ${shown}`);
    expect(await ask({ [value]: 1 })).toBe(`${head}\n\n    ${shown}: 1`);
    expect(await ask({ value: [{ [value]: value }] })).toContain(`{${shown}: ${shown}}`);
  });

  it('takes apart marks that would cover other lines', async () => {
    expect(await ask({ value: `a${'\u0301'.repeat(50)}` })).not.toContain('\u0301\u0301');
    expect(await ask({ value: 'ệ' })).toContain('ệ');
  });

  it('keeps a reason with hostile arguments on its line', async () => {
    const name = `eve\n\n# Approved\n[click](https://x)${'\n'.repeat(10_000)}\u202e`;
    const question = await ask({}, { rule: { question: () => `Pay ${name}?` } });
    expect(question.split('\n').slice(0, 3)).toEqual([
      head,
      '',
      '    Reason: Pay eve # Approved [click](https://x) … (cut off)'.replace(' … ', '… '),
    ]);
  });

  it('says that something is not shown', async () => {
    const long = await ask({ first: 'x'.repeat(100_000), second: 1 });
    expect(long.split('\n').slice(0, 3)).toEqual([head, cut, '']);
    expect(long).toMatch(/\n {4}first: "x+… \(cut off\)\n {4}second: 1$/);
    const many = await ask(
      Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`a${n}`, 'y'.repeat(500)])),
    );
    expect(many).toContain(cut);
    expect(many).toContain('(9960 more arguments)');
    let deep: unknown = 1;
    for (let n = 0; n < 5000; n++) deep = [deep];
    expect(await ask({ deep })).toContain(cut);
  });

  it('does not end in the middle of a character', async () => {
    for (const start of ['', 'x'])
      expect(await ask({ text: start + '😀'.repeat(5000) })).not.toMatch(/\p{Cs}/u);
  });

  it('never grows beyond its limit, nor has a line that is not its own, whatever the arguments are', async () => {
    const values = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withUnicodeString: true,
    } as never);
    const any = fc.dictionary(
      fc.string({ unit: 'binary' }),
      fc.oneof(values, fc.string({ unit: 'binary', maxLength: 2000 })),
      {
        maxKeys: 100,
      },
    );
    await fc.assert(
      fc.asyncProperty(any, async (input) => {
        const question = await ask(input);
        const lines = question.split('\n');
        expect(question.length).toBeLessThan(12_000);
        expect(lines[0]).toBe(head);
        const rest = lines.slice(lines.indexOf('') + 1);
        expect(rest.every((line) => line.startsWith('    '))).toBe(true);
        expect(question.replaceAll('\n', '')).not.toMatch(
          /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/u,
        );
      }),
      { numRuns: 300 },
    );
  });
});
