import { describe, expect, test } from 'vitest';
import { clean, cleanJson } from '../../../../src/tooling/clean.js';

const writings = {
  'an emoji that a selector makes colourful': 'I \u2764\ufe0f you',
  'a family that joiners make one picture': '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  'a scientist with a colour of skin': '\u{1f469}\u{1f3fd}\u200d\u{1f52c}',
  'a flag with a selector and a joiner': '\u{1f3f3}\ufe0f\u200d\u{1f308}',
  'the picture of a key': '1\ufe0f\u20e3',
  'a Persian verb': '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
  'a Devanagari half letter': '\u0915\u094d\u200d\u0937',
};

describe.each(Object.entries(writings))('%s', (_, text) => {
  test('reaches the terminal as it was written', () => {
    expect(clean(text)).toBe(text);
    expect(cleanJson(JSON.stringify(text))).toBe(JSON.stringify(text));
  });
});

const hidden = {
  'a joiner in a Latin word': ['pay\u200dpal', 'pay\\u{200d}pal'],
  'a joiner at the end': ['\u{1f468}\u200d', '\u{1f468}\\u{200d}'],
  'a joiner before a Latin letter': ['\u0645\u200cA', '\u0645\\u{200c}A'],
  'two joiners': ['\u0645\u200c\u200c\u0645', '\u0645\\u{200c}\\u{200c}\u0645'],
  'a selector after a letter': ['a\ufe0f', 'a\\u{fe0f}'],
  'selectors that carry bytes': ['\u{1f600}\ufe0f\ufe0f\ufe01', '\u{1f600}\ufe0f\\u{fe0f}\\u{fe01}'],
} as const;

test.each(Object.entries(hidden))('%s is shown', (_, [text, shown]) => {
  expect(clean(text)).toBe(shown);
  expect(JSON.parse(cleanJson(JSON.stringify(text)))).toBe(text);
});
