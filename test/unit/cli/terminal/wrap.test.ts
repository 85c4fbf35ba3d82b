import { describe, expect, it } from 'vitest';
import { wrapLine, wrapMessage } from '../../../../src/cli/terminal/wrap.js';

describe('a line that is longer than the terminal', () => {
  it('is broken between words, keeps its spaces, and continues with an indent', () => {
    expect(wrapLine('ok  the first and the second word', 24, '    ')).toBe(
      'ok  the first and the\n    second word',
    );
    expect(wrapLine('   indented words that are many', 22, '   ')).toBe(
      '   indented words that\n   are many',
    );
    expect(wrapLine('short', 24, '    ')).toBe('short');
  });

  it('has no line without words, however narrow the terminal is', () => {
    const wrapped = wrapLine(`${' '.repeat(18)}a-word-that-is-long and others`, 20, ' '.repeat(18));
    expect(wrapped.split('\n').filter((line) => line.trim() === '')).toEqual([]);
  });

  it('takes no room for the codes of colours', () => {
    expect(wrapLine('\u001b[31m12345678901234567890\u001b[39m', 20, '')).not.toContain('\n');
  });
});

describe('a message', () => {
  it('has whole sentences, whole lines to copy, and lines of code that are cut', () => {
    const message = [
      'The file could not be loaded because of a mistake.',
      '  fullmcp call http://localhost:3000/mcp add a=2',
      '> 10 | const long = "a line of code that is too long";',
      '     |        ^',
    ].join('\n');
    expect(wrapMessage(message, 30).split('\n')).toEqual([
      'The file could not be loaded',
      'because of a mistake.',
      '  fullmcp call http://localhost:3000/mcp add a=2',
      '> 10 | const long = "a line o…',
      '     |        ^',
    ]);
  });
});
