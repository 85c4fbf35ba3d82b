import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import type { Peer } from '../../../../src/protocol/call.js';
import { printPeer, withPeer, withToken } from '../../../../src/protocol/meta.js';
import { printCall } from '../../../../src/transports/client/print-call.js';

const revision = '2026-07-28';
const peer: Peer = {
  revision,
  client: { name: 'a "quoted" name', version: '1' },
  capabilities: { roots: {}, extensions: { 'x/y': { deep: [1] } } },
  logLevel: undefined,
};
const VERSION = 'io.modelcontextprotocol/protocolVersion';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

const paramsOfUsers: Readonly<Record<string, JsonObject>> = {
  'nothing at all': {},
  'no metadata': { name: 'echo', arguments: { text: 'a', list: [1, { b: null }] } },
  'a progress token': { name: 'echo', _meta: { progressToken: 7 } },
  'the progress token 0': { name: 'echo', _meta: { progressToken: 0 } },
  'a progress token with quotes': { name: 'echo', _meta: { progressToken: '"\\' } },
  'a progress token that is not one': { name: 'echo', _meta: { progressToken: 1.5 } },
  'empty metadata': { name: 'echo', _meta: {} },
  'metadata that is not an object': { name: 'echo', _meta: 'text' },
  'metadata of its own': { name: 'echo', _meta: { mine: { a: 1 }, progressToken: 3 } },
  'metadata that contradicts the client': { _meta: { [VERSION]: '1999-01-01', progressToken: 3 } },
  'a log level in the metadata': { _meta: { [LOG_LEVEL]: 'debug' } },
  'fields that JSON leaves out': { name: undefined, call: () => 1, symbol: Symbol('x'), kept: 1 },
  'values that say how they are printed': { at: new Date(0), nested: { at: new Date(1) } },
  'keys that must be escaped': { 'a"b': 1, 'c\nd': { 'e\\f': 2 }, '': 3, 'ä\u2028': 4 },
};

describe('a request that identifies the client', () => {
  const self = printPeer(peer, revision, undefined);

  it.each(Object.entries(paramsOfUsers))(
    'is the same whether or not its metadata is printed beforehand: %s',
    (_, params) => {
      const plain = printCall(1, { method: 'm', params: withPeer(params, peer, revision) });
      expect(JSON.parse(printCall(1, { method: 'm', params, self }))).toEqual(JSON.parse(plain));
      const other = printCall(1, { method: 'm', params: withToken(withPeer(params, peer, revision), 99) });
      expect(JSON.parse(printCall(1, { method: 'm', params, self }, 99))).toEqual(JSON.parse(other));
    },
  );

  it.each(Object.entries(paramsOfUsers))('has no duplicate field: %s', (_, params) => {
    const text = printCall(1, { method: 'm', params, self }, 99);
    expect(JSON.stringify(JSON.parse(text)).length).toBe(text.length);
  });

  it("leaves the program's parameters unchanged", () => {
    const params = Object.freeze({ name: 'echo', _meta: Object.freeze({ progressToken: 7 }) });
    printCall(1, { method: 'm', params, self }, 99);
    expect(params).toEqual({ name: 'echo', _meta: { progressToken: 7 } });
  });

  it.each([{ big: 1n }, { _meta: { mine: 1n } }])(
    'fails with an error that names the method for values that JSON cannot express',
    (params) => {
      expect(() => printCall(1, { method: 'm', params, self })).toThrow(
        'The parameters of m cannot be written as JSON',
      );
    },
  );

  it("is printed again when the client's description changes", () => {
    expect(printPeer(peer, revision, self)).toBe(self);
    const louder = printPeer({ ...peer, logLevel: 'debug' }, revision, self);
    expect(JSON.parse(printCall(1, { method: 'm', params: {}, self: louder }))).toMatchObject({
      params: { _meta: { [LOG_LEVEL]: 'debug' } },
    });
  });
});
