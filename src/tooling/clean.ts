// Text of a server, as it may reach a terminal.

// A server's text may move the cursor, change the title, hide words or turn their order around. All of these are shown as what they are.
const RANGES = [
  ['0000', '0008'],
  ['000b', '001f'],
  ['007f', '009f'],
  ['00ad', '00ad'],
  ['034f', '034f'],
  ['061c', '061c'],
  ['115f', '1160'],
  ['17b4', '17b5'],
  ['180b', '180f'],
  ['200b', '200f'],
  ['2028', '202e'],
  ['2060', '206f'],
  ['3164', '3164'],
  ['fe00', 'fe0f'],
  ['feff', 'feff'],
  ['ffa0', 'ffa0'],
  ['fff0', 'fffb'],
  ['e0000', 'e0fff'],
];
const UNSAFE = new RegExp(`[${RANGES.map(([from, to]) => `\\u{${from}}-\\u{${to}}`).join('')}]`, 'gu');

// Some invisible characters are part of how a script or an emoji is written, but only between its characters.
const JOINERS = /\u200c|\u200d|\ufe0f/;
const PICTURE_BEFORE = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u;
const PICTURE_AFTER = /^\p{Extended_Pictographic}/u;
const JOINING = `[${['Arabic', 'Syriac', 'Mongolian', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Tibetan'].map((script) => `\\p{Script=${script}}`).join('')}]`;
const JOINING_BEFORE = new RegExp(`${JOINING}$`, 'u');
const JOINING_AFTER = new RegExp(`^${JOINING}`, 'u');

/** Text with every control character and every invisible one replaced by its number; line breaks and tabs are kept. */
export function clean(text: string): string {
  const lines = text.replaceAll('\r\n', '\n');
  return lines.replace(UNSAFE, (character, at: number) =>
    isOfItsWord(lines, at, character) ? character : shown(character),
  );
}

/** JSON text with the same characters escaped as JSON escapes them: it can be parsed, and has the same value. */
export function cleanJson(json: string): string {
  return json.replace(UNSAFE, (character, at: number) =>
    isOfItsWord(json, at, character) ? character : escaped(character),
  );
}

function isOfItsWord(text: string, at: number, character: string): boolean {
  if (!JOINERS.test(character)) return false;
  // Four units are at most two characters, and at least the whole one next to it.
  const before = text.slice(Math.max(0, at - 4), at);
  const after = text.slice(at + 1, at + 5);
  if (character === '\ufe0f')
    return /\p{Extended_Pictographic}$/u.test(before) || (/[\d#*]$/.test(before) && after[0] === '\u20e3');
  if (JOINING_BEFORE.test(before) && JOINING_AFTER.test(after)) return true;
  return character === '\u200d' && PICTURE_BEFORE.test(before) && PICTURE_AFTER.test(after);
}

/** Clean text on one line, and no longer than `limit` characters. */
export function cleanLine(text: string, limit = 200): string {
  const start = text.slice(0, limit * 2 + 1);
  const line = clean(start).replaceAll(/[\n\t]/g, ' ');
  const isWhole = start.length === text.length;
  if (isWhole && endOf(line, limit) === line.length) return line;
  return `${line.slice(0, endOf(line, limit - 1))}…`;
}

/** The index behind the first characters of a string. A character outside of the first plane takes two units. */
function endOf(text: string, characters: number): number {
  if (text.length <= characters) return text.length;
  let at = 0;
  for (let count = 0; count < characters && at < text.length; count++)
    at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  return at;
}

/** A word for a shell that takes it as one argument, whatever is in it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function shown(character: string): string {
  const number = character.codePointAt(0) ?? 0;
  return `\\u{${number.toString(16)}}`;
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
