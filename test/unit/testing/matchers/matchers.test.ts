import { McpError } from 'fullmcp';
import { expect, test } from 'vitest';
import { buildCall, listedTool, toolResult } from '../../../../src/testing/builders.js';
import { type McpMatchers, matchers } from '../../../../src/testing/matchers/matchers.js';

declare module 'vitest' {
  interface Matchers<T> extends McpMatchers<T> {}
}

expect.extend(matchers);

const failsWith = (message: string, check: () => void): void => expect(check).toThrow(message);

test('toBeToolError matches failed results, by message', () => {
  const failure = toolResult(new Error('No such order'));
  expect(failure).toBeToolError();
  expect(failure).toBeToolError('such order');
  expect(toolResult('fine')).not.toBeToolError();
  failsWith('expected a tool error that says "late", but got a tool error that says "No such order"', () =>
    expect(failure).toBeToolError('late'),
  );
  failsWith('expected a tool error, but got a result with the text "fine"', () =>
    expect(toolResult('fine')).toBeToolError(),
  );
  failsWith('expected anything but a tool error', () => expect(failure).not.toBeToolError());
});

test('toHaveText matches the text of a result', () => {
  expect(toolResult('fine')).toHaveText('fine');
  expect(toolResult('fine')).toHaveText(/^f/);
  expect({ text: 'as a client gives it' }).toHaveText(/client/);
  expect({ contents: [{ uri: 'x://y', text: 'read' }] }).toHaveText('read');
  expect({ messages: [{ role: 'user', content: { type: 'text', text: 'said' } }] }).toHaveText('said');
  failsWith('expected the text "bad", but got "fine"', () => expect(toolResult('fine')).toHaveText('bad'));
});

test('toHaveData matches the data of a result', () => {
  expect(toolResult({ a: [1] })).toHaveData({ a: [1] });
  expect({ data: { a: 1, b: 2 } }).toHaveData(expect.objectContaining({ a: 1 }));
  failsWith('expected the data {"a":2}, but got {"a":1}', () =>
    expect(toolResult({ a: 1 })).toHaveData({ a: 2 }),
  );
});

test('toHaveTool matches a list that has the tool', () => {
  const tools = [listedTool('add'), listedTool('sub', { description: 'Subtracts' })];
  expect(tools).toHaveTool('add');
  expect({ tools }).toHaveTool('sub');
  failsWith('expected a tool named "mul", but got add, sub', () => expect(tools).toHaveTool('mul'));
});

test('toBeMcpError matches an error by its code', async () => {
  const error = new McpError('timeout', 'Too late');
  expect(error).toBeMcpError();
  expect(error).toBeMcpError('timeout');
  await expect(Promise.reject(error)).rejects.toBeMcpError('timeout');
  failsWith('expected an McpError with the code "cancelled", but got one with "timeout": Too late', () =>
    expect(error).toBeMcpError('cancelled'),
  );
  failsWith('expected an McpError, but got Error: other', () => expect(new Error('other')).toBeMcpError());
});

test('buildCall makes a complete call, which records its notifications', () => {
  const call = buildCall('tools/call', { name: 'add' }, { auth: { subject: 'ada', scopes: [], claims: {} } });
  call.notify('notifications/progress', { progress: 1 });
  expect(call).toMatchObject({
    method: 'tools/call',
    peer: { revision: '2026-07-28' },
    auth: { subject: 'ada' },
  });
  expect(call.notifications).toEqual([{ method: 'notifications/progress', params: { progress: 1 } }]);
});
