// Splits text into the words that a search compares.

/** The kinds of characters that a word is split at. */
const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
/** A letter of a script without spaces between words. Words are made of two of them. */
const IDEOGRAPH = 4;

/** A longer word is cut: it is not one that a person would search for. */
const MAX_WORD = 40;

/** A word, with the words that it is composed of: `github` of `GitHub` has `git` and `hub`. */
export interface Word {
  readonly text: string;
  readonly parts: readonly string[];
}

/**
 * The words of a string in lower case, without accents. `createPullRequest`, `create_pull_request`, `create-pull-request` and "Create
 * pull request" have the same words; the first one is also a word as a whole.
 */
export function wordsOf(text: string): Word[] {
  const plain = isAscii(text) ? text : withoutAccents(text);
  const words: Word[] = [];
  let at = 0;
  while (at < plain.length) {
    const kind = kindAt(plain, at);
    if (kind === OTHER) {
      at += 1;
      continue;
    }
    const start = at;
    const isIdeographic = kind === IDEOGRAPH;
    while (at < plain.length && isWithin(kindAt(plain, at), isIdeographic)) at += 1;
    if (isIdeographic) addPairs(words, plain.slice(start, at));
    else words.push(toWord(plain, start, at));
  }
  return words;
}

function isWithin(kind: number, isIdeographic: boolean): boolean {
  return isIdeographic ? kind === IDEOGRAPH : kind !== OTHER && kind !== IDEOGRAPH;
}

function addPairs(words: Word[], run: string): void {
  if (run.length === 1) words.push({ text: run, parts: [] });
  for (let at = 0; at + 1 < run.length; at++) words.push({ text: run.slice(at, at + 2), parts: [] });
}

function toWord(text: string, start: number, end: number): Word {
  const parts: string[] = [];
  let from = start;
  for (let at = start + 1; at < end; at++) {
    if (!isStart(text, at, end)) continue;
    parts.push(text.slice(from, Math.min(at, from + MAX_WORD)).toLowerCase());
    from = at;
  }
  const whole = text.slice(start, Math.min(end, start + MAX_WORD)).toLowerCase();
  if (from === start) return { text: whole, parts };
  parts.push(text.slice(from, Math.min(end, from + MAX_WORD)).toLowerCase());
  return { text: whole, parts };
}

// A word starts at the `P` of `createPull`, the `I` of `EC2Instance` and the `S` of `HTTPServer`, but not at the `L` of `URLs`.
function isStart(text: string, at: number, end: number): boolean {
  if (kindAt(text, at) !== UPPER) return false;
  if (kindAt(text, at - 1) !== UPPER) return true;
  if (at + 1 >= end || kindAt(text, at + 1) !== LOWER) return false;
  const isPlural = text[at + 1] === 's' && (at + 2 === end || kindAt(text, at + 2) === UPPER);
  return !isPlural;
}

function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0x80) {
    if (code >= 0x61 && code <= 0x7a) return LOWER;
    if (code >= 0x41 && code <= 0x5a) return UPPER;
    return code >= 0x30 && code <= 0x39 ? DIGIT : OTHER;
  }
  return kindBeyondAscii(text[at] as string, code);
}

function kindBeyondAscii(character: string, code: number): number {
  // Kana, CJK ideographs and their extensions; Hangul has spaces.
  if ((code >= 0x3041 && code <= 0x30ff) || (code >= 0x3400 && code <= 0x9fff)) return IDEOGRAPH;
  // Half of a character outside the basic plane: rare scripts, whose words are not split.
  if (code >= 0xd800 && code <= 0xdfff) return OTHER;
  if (/\p{Lu}/u.test(character)) return UPPER;
  if (/\p{L}/u.test(character)) return LOWER;
  return /\p{N}/u.test(character) ? DIGIT : OTHER;
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

// The voicing marks of kana and the vowels of many scripts are marks, too: only those of Latin, Greek and Cyrillic letters are removed.
function withoutAccents(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC');
}
