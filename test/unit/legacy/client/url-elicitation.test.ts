import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../../../support/until.js';
import {
  closeLinks,
  linkToScript,
  type Message,
  serverAnswer,
} from '../../../support/wires/session-links.js';

afterEach(closeLinks);

const elicitation = {
  mode: 'url',
  elicitationId: 'e1',
  url: 'https://example.com/connect',
  message: 'Sign in',
};
const required = { code: -32042, message: 'Sign in first', data: { elicitations: [elicitation] } };
const able = { capabilities: { elicitation: { url: {} } } };
const initialize = { ...serverAnswer, capabilities: { tools: {}, prompts: {} } };

/** A server that requires a visit before it answers. */
function gatedServer(): { answer: (request: Message) => object; open: () => void; calls: Message[] } {
  let open = false;
  const calls: Message[] = [];
  return {
    calls,
    open: () => {
      open = true;
    },
    answer(request) {
      calls.push(request['params']);
      if (!open) throw required;
      return request['method'] === 'tools/call'
        ? { content: [{ type: 'text', text: 'in' }] }
        : { messages: [] };
    },
  };
}

describe('a call that requires a visit to a URL', () => {
  test('asks for the visit, and is sent again after the server has reported its completion', async () => {
    const gate = gatedServer();
    const { call, far } = await linkToScript({ answer: gate.answer, initialize }, able);
    const params = { name: 'files', arguments: { a: 1 } };
    const question = await call('tools/call', params);
    expect(question).toEqual({
      resultType: 'input_required',
      requestState: expect.any(String),
      inputRequests: { e1: { method: 'elicitation/create', params: elicitation } },
    });
    const inputResponses = { e1: { action: 'accept' } };
    const again = call('tools/call', { ...params, inputResponses, requestState: question['requestState'] });
    gate.open();
    far.send(
      JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/elicitation/complete',
        params: { elicitationId: 'e1' },
      }),
    );
    expect(await again).toMatchObject({ resultType: 'complete', content: [{ text: 'in' }] });
    expect(gate.calls).toEqual([params, params]);
  });

  test('does not wait if the visit was completed before the answer', async () => {
    const gate = gatedServer();
    const { call, far, notifications } = await linkToScript({ answer: gate.answer, initialize }, able);
    const { requestState } = await call('prompts/get', { name: 'p' });
    gate.open();
    far.send(
      JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/elicitation/complete',
        params: { elicitationId: 'e1' },
      }),
    );
    await until('the notification has arrived', () => notifications.length === 1);
    const inputResponses = { e1: { action: 'accept' } };
    expect(await call('prompts/get', { name: 'p', inputResponses, requestState })).toMatchObject({
      messages: [],
    });
  });

  test("fails with the server's error if the user declines, and its state cannot be used again", async () => {
    const gate = gatedServer();
    const { call } = await linkToScript({ answer: gate.answer, initialize }, able);
    const { requestState } = await call('tools/call', { name: 'files' });
    const inputResponses = { e1: { action: 'decline' } };
    await expect(call('tools/call', { name: 'files', inputResponses, requestState })).rejects.toMatchObject({
      number: -32042,
      message: 'Sign in first',
    });

    await expect(call('tools/call', { name: 'files', inputResponses, requestState })).rejects.toMatchObject({
      code: 'invalid_params',
    });
  });

  test('ends with its signal while the user is away', async () => {
    const gate = gatedServer();
    const { call } = await linkToScript({ answer: gate.answer, initialize }, able);
    const { requestState } = await call('tools/call', { name: 'files' });
    const stop = new AbortController();
    const inputResponses = { e1: { action: 'accept' } };
    const waiting = call(
      'tools/call',
      { name: 'files', inputResponses, requestState },
      { signal: stop.signal },
    );
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(gate.calls).toHaveLength(1);
  });

  test("fails with the server's error if the client cannot open URLs, or if the error has no URL", async () => {
    const gate = gatedServer();
    const unable = await linkToScript({ answer: gate.answer, initialize });
    await expect(unable.call('tools/call', { name: 'files' })).rejects.toMatchObject({ number: -32042 });
    const vague = await linkToScript(
      {
        initialize,
        answer: () => {
          throw { code: -32042, message: 'Sign in', data: { elicitations: [{ mode: 'form' }] } };
        },
      },
      able,
    );
    await expect(vague.call('tools/call', { name: 'files' })).rejects.toMatchObject({ number: -32042 });
  });
});
