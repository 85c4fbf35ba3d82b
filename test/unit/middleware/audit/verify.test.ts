import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { type AuditEntry, auditChain, verifyAudit } from 'fullmcp/middleware';
import { describe, expect, it } from 'vitest';

const secret = 'a secret of more than 32 characters';

const entry = (call: number, more: object = {}): AuditEntry => ({
  type: 'call',
  at: '2026-01-01T00:00:00.000Z',
  call,
  method: 'tools/call',
  name: 'pay',
  caller: { subject: 'ada' },
  params: { arguments: { text: '\u2028 "quoted" \ud800 漢' } },
  outcome: 'ok',
  ms: 1,
  ...more,
});

/** A log of `count` entries and its head. */
function log(count: number, key: string | undefined = secret) {
  const chain = auditChain({ secret: key });
  const lines = Array.from({ length: count }, (_, n) => chain.line(entry(n + 1)));
  return { lines, head: chain.head };
}

const codes = async (...args: Parameters<typeof verifyAudit>): Promise<readonly string[]> =>
  (await verifyAudit(...args)).problems.map(({ code }) => code);

describe('a line of an audit log', () => {
  it('is JSON whose hash is an HMAC of the hash before it and of its own text', () => {
    const { lines } = log(2);
    const [first, second] = lines.map((line) => JSON.parse(line)) as [{ hash: string }, { hash: string }];
    const body = `${(lines[1] as string).slice(0, -`,"hash":"${second.hash}"}`.length)}}`;
    expect(second.hash).toBe(
      createHmac('sha256', secret).update(`${first.hash}\n${body}`).digest('base64url'),
    );
    const plain = auditChain().line(entry(1));
    const hash = JSON.parse(plain).hash as string;
    const text = `\n${plain.slice(0, -`,"hash":"${hash}"}`.length)}}`;
    expect(hash).toBe(createHash('sha256').update(text).digest('base64url'));
  });

  it('has the same hash for a secret that is longer than a block', () => {
    const long = 'long '.repeat(40);
    const line = log(1, long).lines[0] as string;
    const { hash } = JSON.parse(line) as { hash: string };
    const text = `\n${line.slice(0, -`,"hash":"${hash}"}`.length)}}`;
    expect(hash).toBe(createHmac('sha256', long).update(text).digest('base64url'));
  });
});

describe('verifyAudit', () => {
  it('accepts a log that nobody has changed', async () => {
    const { lines, head } = log(50);
    expect(await verifyAudit(lines, { secret, head })).toEqual({
      ok: true,
      problems: [],
      entries: 50,
      head,
      torn: 0,
      lost: 0,
      unfinished: [],
    });
    expect((await verifyAudit(`${lines.join('\n')}\n`.split('\n'), { secret, head })).ok).toBe(true);
    expect((await verifyAudit([])).ok).toBe(true);
  });

  it('names the line that was changed', async () => {
    const { lines, head } = log(10);
    const changed = lines.with(4, (lines[4] as string).replace('"ada"', '"eve"'));
    expect((await verifyAudit(changed, { secret, head })).problems).toEqual([
      {
        code: 'changed',
        line: 5,
        message: 'Entry 5 or the one before it was changed, or was written with another secret.',
      },
    ]);
  });

  it('finds lines that were removed, from the beginning and the middle', async () => {
    const { lines, head } = log(10);
    expect((await verifyAudit(lines.toSpliced(3, 2), { secret, head })).problems).toEqual([
      { code: 'missing', line: 4, message: 'Entries 4 to 5 are missing.' },
    ]);
    expect(await codes(lines.slice(1), { secret, head })).toEqual(['missing']);
  });

  it('finds lines that were swapped or repeated', async () => {
    const { lines, head } = log(10);
    const [third, fourth] = [lines[2] as string, lines[3] as string];
    expect(await codes(lines.with(2, fourth).with(3, third), { secret, head })).toEqual([
      'missing',
      'reordered',
      'missing',
    ]);
    expect(await codes(lines.toSpliced(3, 0, third), { secret, head })).toEqual(['reordered']);
  });

  it('finds that the end was cut off only with a head', async () => {
    const { lines, head } = log(10);
    const cut = lines.slice(0, 8);
    expect(await codes(cut, { secret })).toEqual([]);
    expect((await verifyAudit(cut, { secret, head })).problems).toEqual([
      { code: 'truncated', message: 'The log ends with entry 8, but its head is entry 10.' },
    ]);
    expect(await codes([], { secret, head })).toEqual(['truncated']);
    // A head that was kept some time ago is still in the log.
    const { head: earlier } = log(5);
    expect(await codes(lines, { secret, head: earlier })).toEqual([]);
    expect(await codes(lines, { secret, head: { ...earlier, hash: head.hash } })).toEqual(['changed']);
    expect(await codes(lines, { secret, head: 'nonsense' })).toEqual(['head']);
  });

  it('finds a log that was rewritten by somebody who does not know the secret', async () => {
    const forged = log(10, 'another secret, of 32 characters or more').lines;
    expect((await verifyAudit(forged, { secret })).problems.map(({ message }) => message)).toEqual([
      'No entry matches its hash. The secret is wrong, or the whole log was replaced.',
    ]);
    // From the middle on.
    const { lines, head } = log(10);
    const chain = auditChain({ secret: 'another secret, of 32 characters or more', head: log(6).head });
    const rest = [7, 8, 9, 10].map((call) => chain.line(entry(call, { name: 'nothing' })));
    expect(await codes([...lines.slice(0, 6), ...rest], { secret, head })).toEqual([
      ...Array(4).fill('changed'),
      'changed',
    ]);
  });

  it('accepts entries from before and after a change of the secret', async () => {
    const { lines, head } = log(3);
    const next = 'the next secret, of 32 characters too';
    const chain = auditChain({ secret: [next, secret], head });
    const all = [...lines, chain.line(entry(4)), chain.line(entry(5))];
    expect(await codes(all, { secret: [next, secret], head: chain.head })).toEqual([]);
    expect(await codes(all, { secret: next, head: chain.head })).toEqual(['changed', 'changed', 'changed']);
  });

  it('finds lines that are not entries, and lines that were inserted', async () => {
    const { lines, head } = log(4);
    expect(await codes(lines.toSpliced(2, 0, 'note'), { secret, head })).toEqual(['unreadable']);
    expect(await codes(lines.toSpliced(2, 0, ''), { secret, head })).toEqual(['unreadable']);
    expect(await codes([...lines, 'note'], { secret })).toEqual(['unreadable']);
    expect(await codes(['', ...lines], { secret, head })).toEqual(['unreadable']);
    const hostile = [
      '{}',
      'null',
      '{"seq":1}',
      '{"seq":"1","hash":"x"}',
      `{"seq":1e99,"hash":"${'x'.repeat(43)}"}`,
    ];
    expect(await codes([...hostile, ...lines], { secret, head })).toEqual(['unreadable']);
  });

  it('counts lost entries and lists calls that never ended', async () => {
    const chain = auditChain({ secret });
    const { type: _, outcome: __, ms: ___, ...facts } = entry(1) as AuditEntry & { type: 'call' };
    const at = facts.at;
    const open = { type: 'open', at, pid: 1, host: 'x' } as const;
    const lines = [
      chain.line(open),
      chain.line({ type: 'start', ...facts, call: 1 }),
      chain.line({ type: 'start', ...facts, call: 2 }),
      chain.line({ type: 'end', at, call: 1, method: 'tools/call', outcome: 'ok', ms: 1 }),
      chain.line({ type: 'lost', at, count: 7 }),
      chain.line(open),
      chain.line({ type: 'start', ...facts, call: 2 }),
      chain.line({ type: 'end', at, call: 2, method: 'tools/call', outcome: 'ok', ms: 1 }),
    ];
    expect(await verifyAudit(lines, { secret })).toMatchObject({ ok: true, lost: 7, unfinished: [3] });
  });

  it('finds every change of one character, every removal, every move and every cut', async () => {
    const { lines, head } = log(6);
    const text = lines.join('\n');
    const at = fc.nat(text.length - 1);
    const line = fc.nat(lines.length - 1);
    const tampered = fc.oneof(
      fc
        .tuple(at, fc.string({ minLength: 1, maxLength: 1 }))
        .map(([n, by]) => text.slice(0, n) + by + text.slice(n + 1)),
      at.map((n) => text.slice(0, n)),
      at.map((n) => text.slice(0, n) + text.slice(n + 1)),
      line.map((n) => lines.toSpliced(n, 1).join('\n')),
      fc.tuple(line, line).map(([from, to]) =>
        lines
          .toSpliced(from, 1)
          .toSpliced(to, 0, lines[from] as string)
          .join('\n'),
      ),
      fc.shuffledSubarray(lines).map((some) => some.join('\n')),
    );
    await fc.assert(
      fc.asyncProperty(tampered, async (other) => {
        expect((await verifyAudit(other.split('\n'), { secret, head })).ok).toBe(other === text);
      }),
      { numRuns: 500 },
    );
  });
});
