// The columns that text takes on a terminal: characters of East Asia and emoji take two.

import { stripVTControlCharacters } from 'node:util';

const PLAIN = /^[ -~]*$/;
/** East Asian Wide and Fullwidth (Unicode, UAX #11), and emoji that are drawn as pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** Longer text is wider than any terminal, and is not measured character by character: that takes a second for a million. */
const MAX_MEASURED = 2000;

let segmenter: Intl.Segmenter | undefined;

/** The number of columns. The codes of colours take none. */
export function widthOf(text: string): number {
  const shown = stripVTControlCharacters(text);
  if (shown.length > MAX_MEASURED || PLAIN.test(shown)) return shown.length;
  let width = 0;
  for (const { segment } of charactersOf(shown)) width += columnsOf(segment);
  return width;
}

/** The beginning of a line that fits into so many columns, with an ellipsis if something was cut. */
export function cutToWidth(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  let kept = '';
  let width = 0;
  for (const { segment } of charactersOf(line)) {
    width += columnsOf(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

function charactersOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

function columnsOf(character: string): number {
  if (WIDE.test(character)) return 2;
  return NO_WIDTH.test(character) ? 0 : 1;
}
