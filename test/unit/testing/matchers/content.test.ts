import { image, text } from 'fullmcp';
import { expect, test } from 'vitest';
import {
  type McpMatchers,
  matchers,
  promptResult,
  resourceResult,
  toolResult,
} from '../../../../src/testing.js';

declare module 'vitest' {
  interface Matchers<T> extends McpMatchers<T> {}
}

expect.extend(matchers);

const failsWith = (message: string | RegExp, check: () => void): void => expect(check).toThrow(message);
const png = new Uint8Array([137, 80, 78, 71]);
const mixed = toolResult([text('A pear'), image(png, 'image/png'), text('An apple')]);

test('toHaveContent finds one block by some of its fields', () => {
  expect(mixed).toHaveContent({ type: 'image', mimeType: 'image/png' });
  expect(mixed).toHaveContent({ text: /apple$/ });
  expect(mixed).toHaveContent({ data: png });
  expect(mixed).not.toHaveContent({ data: new Uint8Array([1]) });
  expect(mixed).not.toHaveContent({ type: 'audio' });
  expect(mixed).not.toHaveContent({ type: 'text', mimeType: 'image/png' });
  expect(mixed.content).toHaveContent({ type: 'image' });
});

test('toHaveContent compares all blocks in order if it gets an array', () => {
  expect(mixed).toHaveContent([{ text: 'A pear' }, { type: 'image', data: png }, { text: /^An/ }]);
  expect(mixed).not.toHaveContent([{ type: 'image' }, { text: 'A pear' }, { text: 'An apple' }]);
  expect(mixed).not.toHaveContent([{ text: 'A pear' }, { type: 'image' }]);
  expect(mixed).not.toHaveContent([{}, {}, {}, {}]);
  expect(toolResult([])).not.toHaveContent({ type: 'text', text: 'x' });
});

test('toHaveContent accepts resources and prompts, and asymmetric values', () => {
  expect(resourceResult('pear://1', png)).toHaveContent([{ uri: 'pear://1', blob: png }]);
  expect(resourceResult('pear://1', { ripe: true })).toHaveContent({ mimeType: 'application/json' });
  expect(promptResult(['Describe', image(png, 'image/png')])).toHaveContent([
    { type: 'text', text: 'Describe' },
    { type: 'image', mimeType: expect.stringContaining('image/') as never },
  ]);
});

test('toHaveContent uses a global regular expression from its start each time', () => {
  const global = /pear/g;
  for (let round = 0; round < 3; round++) expect(mixed).toHaveContent({ text: global });
});

test('the message of toHaveContent shows the blocks without their bytes', () => {
  failsWith(
    'expected the content {"type":"audio"}, but got [text "A pear", image image/png of 4 bytes, text "An apple"]',
    () => expect(mixed).toHaveContent({ type: 'audio' }),
  );
  failsWith('expected the content {"text":"/x/","data":"4 bytes"}, but got', () =>
    expect(mixed).toHaveContent({ text: /x/, data: png }),
  );
  failsWith('but got no content', () => expect({ content: [] }).toHaveContent({ type: 'text' }));
  failsWith('but got Error: no result', () => expect(new Error('no result')).toHaveContent({ type: 'text' }));
  const many = { content: Array.from({ length: 1000 }, () => image(new Uint8Array(9999), 'image/png')) };
  try {
    expect(many).toHaveContent({ type: 'text' });
  } catch (error) {
    expect((error as Error).message).toContain('and 980 more]');
    expect((error as Error).message.length).toBeLessThan(2000);
  }
});
