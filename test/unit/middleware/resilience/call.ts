import type { Call, Outcome } from '../../../../src/protocol/call.js';

export const outcome: Outcome = { resultType: 'complete' };

export function call(method = 'tools/call', params: Call['params'] = { name: 'pay' }): Call {
  return {
    id: 1,
    method,
    params,
    peer: { revision: '2026-07-28', client: undefined, capabilities: {}, logLevel: undefined },
    signal: new AbortController().signal,
    notify: () => undefined,
  };
}

export const list: Outcome = {
  resultType: 'complete',
  tools: [
    { name: 'read', annotations: { readOnlyHint: true } },
    { name: 'set', annotations: { idempotentHint: true } },
    { name: 'pay' },
  ],
};
