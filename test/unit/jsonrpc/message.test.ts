import { describe, expect, it } from 'vitest';
import {
  isObject,
  isRequestId,
  printError,
  printNotification,
  printRequest,
  printResult,
  readMessage,
} from '../../../src/jsonrpc/message.js';

const read = (fields: object): unknown => readMessage({ jsonrpc: '2.0', ...fields });
const invalid = (id: unknown, reason: RegExp): object => ({
  kind: 'invalid',
  id,
  reason: expect.stringMatching(reason),
});

describe('readMessage', () => {
  it('reads a request, a notification, a result and an error', () => {
    expect(read({ id: 1, method: 'ping' })).toEqual({
      kind: 'request',
      id: 1,
      method: 'ping',
      params: undefined,
    });
    expect(read({ method: 'n', params: { a: 1 } })).toEqual({
      kind: 'notification',
      method: 'n',
      params: { a: 1 },
    });
    expect(read({ id: 'x', result: {} })).toEqual({ kind: 'result', id: 'x', result: {} });
    expect(read({ id: 1, error: { code: -1, message: 'm', data: null } })).toEqual({
      kind: 'error',
      id: 1,
      error: { code: -1, message: 'm', data: null },
    });
  });

  it.each([[null], [1], ['text'], [[]], [[{ jsonrpc: '2.0', id: 1, method: 'ping' }]], [undefined]])(
    'does not accept %j as a message',
    (value) => {
      expect(readMessage(value)).toEqual(invalid(undefined, /JSON object/));
    },
  );

  it.each([undefined, '1.0', 2, null])(
    'rejects jsonrpc %j, and returns the id for the response',
    (jsonrpc) => {
      expect(readMessage({ jsonrpc, id: 7, method: 'ping' })).toEqual(invalid(7, /jsonrpc/));
    },
  );

  it.each([[null], [1.5], [true], [{}], [[]], [2 ** 53]])('rejects the id %j', (id) => {
    expect(read({ id, method: 'ping' })).toEqual(invalid(undefined, /"id"/));
    expect(read({ id, result: {} })).toEqual(invalid(undefined, /"id"/));
  });

  it.each([0, -1, '', 'a', Number.MAX_SAFE_INTEGER])('accepts the id %j', (id) => {
    expect(read({ id, method: 'ping' })).toMatchObject({ kind: 'request', id });
  });

  it.each([1, '', null, {}])('rejects the method %j', (method) => {
    expect(read({ id: 1, method })).toEqual(invalid(1, /"method"/));
  });

  it.each([[null], [[]], ['x'], [1]])('rejects params %j', (params) => {
    expect(read({ id: 1, method: 'ping', params })).toEqual(invalid(1, /"params"/));
  });

  it('rejects a message that is of several kinds at once, or of none', () => {
    expect(read({ id: 1, method: 'a', result: {} })).toEqual(invalid(1, /either/));
    expect(read({ id: 1, method: 'a', error: { code: 1, message: '' } })).toEqual(invalid(1, /either/));
    expect(read({ id: 1, result: {}, error: { code: 1, message: '' } })).toEqual(invalid(1, /either/));
    expect(read({ id: 1, result: {}, error: null })).toEqual(invalid(1, /either/));
    expect(read({ id: 1 })).toEqual(invalid(1, /must have/));
    expect(read({})).toEqual(invalid(undefined, /must have/));
  });

  it('rejects a result that is not an object or has no id', () => {
    for (const result of [null, 1, [], 'x']) expect(read({ id: 1, result })).toEqual(invalid(1, /"result"/));
    expect(read({ result: {} })).toEqual(invalid(undefined, /must have an "id"/));
  });

  it('accepts an error without an id, whose sender could not read one', () => {
    const error = { code: -32700, message: 'Parse error' };
    expect(read({ error })).toEqual({ kind: 'error', id: undefined, error });
    expect(read({ id: null, error })).toEqual({ kind: 'error', id: undefined, error });
  });

  it.each([
    [null],
    ['x'],
    [[]],
    [{}],
    [{ code: 1.5, message: 'm' }],
    [{ code: '1', message: 'm' }],
    [{ code: 1 }],
  ])('rejects the error %j', (error) => {
    expect(read({ id: 1, error })).toMatchObject({ kind: 'invalid', id: 1 });
  });

  it('keeps only the specified fields of an error', () => {
    expect(read({ id: 1, error: { code: 1, message: 'm', stack: 'secret' } })).toEqual({
      kind: 'error',
      id: 1,
      error: { code: 1, message: 'm' },
    });
  });
});

describe('the printer of messages', () => {
  const roundTrip = (json: string): unknown => readMessage(JSON.parse(json));

  it('reverses readMessage', () => {
    expect(roundTrip(printRequest(1, 'a"b', { x: [1] }))).toEqual({
      kind: 'request',
      id: 1,
      method: 'a"b',
      params: { x: [1] },
    });
    expect(roundTrip(printRequest('"', 'm', undefined))).toMatchObject({ id: '"', params: undefined });
    expect(roundTrip(printNotification('m', undefined))).toMatchObject({ kind: 'notification', method: 'm' });
    expect(roundTrip(printNotification('m', { a: 1 }))).toMatchObject({ params: { a: 1 } });
    expect(roundTrip(printResult('é', '{"a":1}'))).toEqual({ kind: 'result', id: 'é', result: { a: 1 } });
    const error = { code: -32603, message: 'x', data: { y: 1 } };
    expect(roundTrip(printError(5, error))).toEqual({ kind: 'error', id: 5, error });
  });

  it('omits the id of an error if it is not known', () => {
    expect(JSON.parse(printError(undefined, { code: 1, message: 'm' }))).not.toHaveProperty('id');
  });
});

describe('the type guards', () => {
  it('recognize objects', () => {
    expect([{}, Object.create(null)].every(isObject)).toBe(true);
    expect([null, [], 'x', 1, undefined].some(isObject)).toBe(false);
  });

  it('recognize ids, of which strings have at most 1,024 characters', () => {
    expect(['', 'a', 0, -5].every(isRequestId)).toBe(true);
    expect(['x'.repeat(1024)].every(isRequestId)).toBe(true);
    expect(['x'.repeat(1025), null, 0.5, Number.NaN, true, undefined, {}].some(isRequestId)).toBe(false);
  });
});
