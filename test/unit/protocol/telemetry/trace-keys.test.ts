import { describe, expect, it } from 'vitest';
import { readTraceKey, TRACE_KEYS, traceOf } from '../../../../src/protocol/telemetry/trace-keys.js';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01';

describe('the trace in the _meta of a call', () => {
  it.each([...TRACE_KEYS])('is read up to a length: %s', (key, limit) => {
    const read = (value: unknown): unknown => readTraceKey({ params: { _meta: { [key]: value } } }, key);
    expect(read('x'.repeat(limit))).toBe('x'.repeat(limit));
    for (const value of ['x'.repeat(limit + 1), 5, null, undefined, ['x'], { x: 1 }])
      expect(read(value)).toBeUndefined();
  });

  it('is read under no other key, and not from a prototype', () => {
    expect(readTraceKey({ params: { _meta: { b3: '1' } } }, 'b3')).toBeUndefined();
    expect(
      readTraceKey({ params: { _meta: Object.create({ traceparent }) } }, 'traceparent'),
    ).toBeUndefined();
    for (const params of [{}, { _meta: null }, { _meta: 'x' }, { _meta: [traceparent] }])
      expect(readTraceKey({ params }, 'traceparent')).toBeUndefined();
  });

  it('is stored with a task without baggage, and only if there is a parent', () => {
    const baggage = 'user=ann';
    expect(traceOf({ params: { _meta: { traceparent, tracestate: 'a=b', baggage, other: 1 } } })).toEqual({
      traceparent,
      tracestate: 'a=b',
    });
    expect(traceOf({ params: { _meta: { traceparent, tracestate: 'x'.repeat(513) } } })).toEqual({
      traceparent,
    });
    expect(traceOf({ params: { _meta: { tracestate: 'a=b', baggage } } })).toBeUndefined();
    expect(traceOf({ params: {} })).toBeUndefined();
  });
});
