import { describe, expect, test } from 'vitest';
import { type Outcome, printOutcome, withPrint } from '../../../src/protocol/call.js';

const serverMeta = { 'io.modelcontextprotocol/serverInfo': { name: 'printing', version: '1.0.0' } };
const content = [{ type: 'text', text: 'a "quoted" \u2028 text' }];

describe('an outcome whose _meta was printed before', () => {
  const outcomes: readonly Outcome[] = [
    { resultType: 'complete', content },
    { resultType: 'complete', content: [] },
    { resultType: 'complete' },
    { resultType: 'complete', content: undefined },
    { resultType: 'input_required', content },
    { resultType: 'complete', content, isError: true },
    { resultType: 'complete', content, structuredContent: { sum: 3 } },
  ];

  test.each(outcomes)('is printed as JSON.stringify prints it: %j', (fields) => {
    const outcome = { ...fields, _meta: withPrint({ ...serverMeta }) };
    expect(printOutcome(outcome)).toBe(JSON.stringify(outcome));
  });

  test('is printed with the fields that were added to it later', () => {
    const outcome: Outcome = { resultType: 'complete', content, _meta: withPrint({ ...serverMeta }) };
    outcome['extra'] = 1;
    outcome['_meta'] = { ...serverMeta, more: true };
    expect(JSON.parse(printOutcome(outcome))).toEqual({
      resultType: 'complete',
      content,
      _meta: { ...serverMeta, more: true },
      extra: 1,
    });
  });
});
