import { describe, expect, it } from 'vitest';
import {
  assistant,
  audio,
  embed,
  image,
  isContentBlock,
  resourceLink,
  text,
  user,
} from '../../../../src/protocol/model/content.js';

const bytes = new TextEncoder().encode('foo');

describe('the content constructors', () => {
  it('create text, image and audio blocks', () => {
    expect(text('hi')).toEqual({ type: 'text', text: 'hi' });
    expect(text('hi', { annotations: { priority: 1 }, _meta: { a: 1 } })).toEqual({
      type: 'text',
      text: 'hi',
      annotations: { priority: 1 },
      _meta: { a: 1 },
    });
    expect(image(bytes, 'image/png')).toEqual({ type: 'image', data: 'Zm9v', mimeType: 'image/png' });
    expect(audio(bytes.slice().buffer, 'audio/wav')).toEqual({
      type: 'audio',
      data: 'Zm9v',
      mimeType: 'audio/wav',
    });
  });

  it('take a string as base64 unchanged, and only the bytes of a view', () => {
    expect(image('Zm9v', 'image/png').data).toBe('Zm9v');
    expect(image(new Uint8Array([0, ...bytes, 0]).subarray(1, 4), 'image/png').data).toBe('Zm9v');
    expect(image(Buffer.from('foo'), 'image/png').data).toBe('Zm9v');
  });

  it('name a link by its URI if it has no name', () => {
    expect(resourceLink('a://b')).toEqual({ type: 'resource_link', uri: 'a://b', name: 'a://b' });
    expect(resourceLink('a://b', { name: 'B', size: 3 })).toEqual({
      type: 'resource_link',
      uri: 'a://b',
      name: 'B',
      size: 3,
    });
  });

  it('embed text as text and bytes as a blob', () => {
    expect(embed('a://b', 'hi')).toEqual({ type: 'resource', resource: { uri: 'a://b', text: 'hi' } });
    expect(embed('a://b', bytes, { mimeType: 'x/y', annotations: { audience: ['user'] } })).toEqual({
      type: 'resource',
      resource: { uri: 'a://b', mimeType: 'x/y', blob: 'Zm9v' },
      annotations: { audience: ['user'] },
    });
    expect(embed('a://b', bytes.slice().buffer).resource).toEqual({ uri: 'a://b', blob: 'Zm9v' });
  });

  it('create prompt messages from text and from blocks', () => {
    expect(user('hi')).toEqual({ role: 'user', content: { type: 'text', text: 'hi' } });
    const block = image('Zm9v', 'image/png');
    expect(assistant(block)).toEqual({ role: 'assistant', content: block });
  });
});

describe('isContentBlock', () => {
  it('recognizes the results of the constructors', () => {
    const blocks = [
      text(''),
      image('', 'a/b'),
      audio('', 'a/b'),
      resourceLink('a:b'),
      embed('a:b', ''),
      embed('a:b', bytes),
    ];
    for (const block of blocks) expect(isContentBlock(block)).toBe(true);
  });

  it.each([
    [null],
    [undefined],
    ['text'],
    [7],
    [[]],
    [{}],
    [{ type: 'text' }],
    [{ type: 'text', text: 1 }],
    [{ text: 'no type' }],
    [{ type: 'image', data: 'Zm9v' }],
    [{ type: 'resource_link', uri: 'a:b' }],
    [{ type: 'resource' }],
    [{ type: 'resource', resource: null }],
    [{ type: 'resource', resource: 'a:b' }],
    [{ type: 'resource', resource: {} }],
    [{ type: 'resource', resource: { uri: 'a:b' } }],
    [{ type: 'toString' }],
    [{ type: '__proto__' }],
    [{ type: ['text'], text: 'x' }],
  ])('does not accept %j as a block', (value) => {
    expect(isContentBlock(value)).toBe(false);
  });
});
