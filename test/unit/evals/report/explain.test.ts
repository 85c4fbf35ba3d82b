import type { EvalReport } from 'fullmcp/evals';
import { describe, expect, it } from 'vitest';
import { compareReports, isEvalReport } from '../../../../src/evals/report/compare.js';
import { explainReport } from '../../../../src/evals/report/explain.js';

const NOTHING = { input: 0, cached: 0, output: 0 };

interface Planned {
  readonly name: string;
  readonly passed: number;
  readonly of?: number;
  readonly expected?: string;
  readonly chosen?: string;
}

function reportOf(cases: readonly Planned[], tokens = 100): EvalReport {
  const interval = { share: 0, low: 0, high: 1 };
  return {
    ok: false,
    mode: 'replayed',
    spent: { tokens: 0, cost: 0, isEstimate: false },
    tools: [
      { name: 'create_invoice', description: 'Sends an invoice to a customer for payment.', tokens: 40 },
      {
        name: 'create_quote',
        description: 'Sends an offer to a customer, who can be billed later.',
        tokens: 50,
      },
      { name: 'legacy', description: 'Old.', tokens: 900 },
    ],
    models: [
      {
        name: 'm',
        model: 'm',
        score: interval,
        usage: { ...NOTHING, input: tokens },
        medianMs: 1,
        notes: [],
        cases: cases.map(({ name, passed, of = 1, expected, chosen }) => ({
          ...{ name, passed, of, interval, ok: passed === of, need: 1, state: 'fresh' as const, because: [] },
          expected: expected === undefined ? [] : [expected],
          runs: Array.from({ length: of }, (_, at) => ({
            ...{ run: at + 1, passed: at < passed, answer: '', requests: 1, ms: 1 },
            calls: chosen === undefined ? [] : [{ tool: chosen, args: {}, result: '' }],
            problems:
              at < passed || expected === undefined || chosen === undefined
                ? []
                : [{ kind: 'tool' as const, says: '…', expected, chosen }],
          })),
        })),
      },
    ],
  };
}

describe('The explanation of a report', () => {
  const mixed = {
    name: 'Someone must be billed',
    passed: 1,
    of: 3,
    expected: 'create_invoice',
    chosen: 'create_quote',
  };
  const explained = explainReport(reportOf([mixed]));

  it('names the tools that are mixed up, with the words that both have', () => {
    expect(explained.confusions).toEqual([
      {
        expected: 'create_invoice',
        chosen: 'create_quote',
        times: 2,
        shared: ['create', 'sends', 'customer'],
      },
    ]);
  });

  it('names the tools that nobody uses, and the cost of each', () => {
    expect(explained.dead).toEqual(['legacy']);
    expect(explained.tools.map(({ name, tokens, calls }) => [name, tokens, calls])).toEqual([
      ['legacy', 900, 0],
      ['create_quote', 50, 3],
      ['create_invoice', 40, 0],
    ]);
  });

  it('proposes by rules: other words, a longer description, fewer tools', () => {
    expect(explained.proposals).toEqual([
      'create_quote was called 2 times in place of create_invoice. Both say "create", "sends", "customer". Say in each description when to use the other one.',
      'Users say "billed", which create_quote has and create_invoice does not: add it to create_invoice.',
      'The description of legacy has fewer than 4 words: say what it does, and when to use it.',
      'legacy costs 900 tokens in each request, and nobody uses it: add a case for it, or remove it.',
    ]);
  });

  it('of a report without mistakes has no confusions', () => {
    expect(explainReport(reportOf([{ name: 'a', passed: 1 }])).confusions).toEqual([]);
  });
});

describe('A comparison of two reports', () => {
  const cases = (passed: (at: number) => number): readonly Planned[] =>
    Array.from({ length: 40 }, (_, at) => ({ name: `case ${at}`, passed: passed(at), of: 3 }));

  it('is worse if more cases got worse than chance explains, and names them', () => {
    const [model] = compareReports(
      reportOf(
        cases(() => 3),
        100,
      ),
      reportOf(
        cases((at) => (at < 9 ? 0 : 3)),
        400,
      ),
    );
    expect(model).toMatchObject({ name: 'm', cases: 40, verdict: 'worse', better: [], tokensPerRun: [1, 3] });
    expect(model?.worse).toHaveLength(9);
    expect(model?.difference).toBeCloseTo(-0.225, 3);
  });

  it('says so if there are too few cases, and skips those that only one report has', () => {
    const [model] = compareReports(
      reportOf([{ name: 'a', passed: 1 }]),
      reportOf([
        { name: 'a', passed: 0 },
        { name: 'b', passed: 0 },
      ]),
    );
    expect(model).toMatchObject({ cases: 1, verdict: 'too few', worse: ['a'] });
  });

  it('needs a clearer difference with several models', () => {
    const named = (report: EvalReport): EvalReport => ({
      ...report,
      models: ['m', 'n', 'o'].map((name) => ({
        ...(report.models[0] as EvalReport['models'][number]),
        name,
      })),
    });
    const [before, after] = [reportOf(cases(() => 3)), reportOf(cases((at) => (at < 6 ? 0 : 3)))];
    expect(compareReports(before, after)[0]?.verdict).toBe('worse');
    expect(compareReports(named(before), named(after)).map(({ verdict }) => verdict)).toEqual(
      Array(3).fill('none shown'),
    );
  });

  it.each([17, {}, { models: [{}] }, { models: [{ usage: {}, cases: [{}] }] }])('refuses %j', (value) => {
    expect(isEvalReport(value)).toBe(false);
  });

  it('takes a report as the command prints it', () => {
    expect(isEvalReport(JSON.parse(JSON.stringify(reportOf([{ name: 'a', passed: 1 }]))))).toBe(true);
  });
});
