// Reads regular expressions, as far as the search for slow ones needs.

/** The branches of a group, each a sequence of items. */
export type Alternatives = readonly (readonly Item[])[];

/** One character, class or group of a regular expression, and how often it may be repeated. */
export interface Item {
  readonly source: string;
  readonly group?: Alternatives;
  readonly min: number;
  readonly max: number;
}

/** The longest pattern that is read. */
const MAX_LENGTH = 2000;

/** Reads a regular expression that compiles, in one pass. Returns undefined if the expression is too long. */
export function readPattern(pattern: string): Alternatives | undefined {
  if (pattern.length > MAX_LENGTH) return undefined;
  const characters = [...pattern];
  let at = 0;
  return readAlternatives();

  function readAlternatives(): Alternatives {
    const alternatives: Item[][] = [[]];
    while (at < characters.length && characters[at] !== ')') {
      if (characters[at] === '|') {
        at++;
        alternatives.push([]);
        continue;
      }
      const item = readItem();
      if (item !== undefined) alternatives.at(-1)?.push(item);
    }
    return alternatives;
  }

  function readItem(): Item | undefined {
    const start = at;
    const character = characters[at++] ?? '';
    if (character === '^' || character === '$') return undefined;
    if (character === '(') return readGroup();
    if (character === '[') skipClass();
    if (character === '\\') skipEscape();
    const source = characters.slice(start, at).join('');
    const item = { source, ...readCount() };
    return source === '\\b' || source === '\\B' ? undefined : item;
  }

  function readGroup(): Item | undefined {
    const start = at;
    // Lookahead and lookbehind consume no characters.
    const isLook =
      characters[at] === '?' &&
      ['=', '!'].includes(characters[at + (characters[at + 1] === '<' ? 2 : 1)] ?? '');
    if (characters[at] === '?') {
      const isNamed = characters[at + 1] === '<' && !isLook;
      at = isNamed ? characters.indexOf('>', at) + 1 : at + (characters[at + 1] === '<' ? 3 : 2);
    }
    const group = readAlternatives();
    at++;
    const source = characters.slice(start, at).join('');
    const item = { source, group, ...readCount() };
    return isLook ? { ...item, min: 0, max: 1 } : item;
  }

  function skipClass(): void {
    while (at < characters.length && characters[at] !== ']') at += characters[at] === '\\' ? 2 : 1;
    at++;
  }

  // `\p{L}`, `\u{1F600}` and `\k<name>` extend to their closing bracket.
  function skipEscape(): void {
    const letter = characters[at++] ?? '';
    const next = characters[at];
    if ('pPu'.includes(letter) && next === '{') at = characters.indexOf('}', at) + 1;
    else if (letter === 'k' && next === '<') at = characters.indexOf('>', at) + 1;
    else if (letter === 'u') at += 4;
    else if (letter === 'x') at += 2;
    else if (letter === 'c') at += 1;
  }

  function readCount(): { readonly min: number; readonly max: number } {
    const count = countAt();
    if (count !== undefined && characters[at] === '?') at++;
    return count ?? { min: 1, max: 1 };
  }

  function countAt(): { readonly min: number; readonly max: number } | undefined {
    switch (characters[at]) {
      case '*':
        at++;
        return { min: 0, max: Number.POSITIVE_INFINITY };
      case '+':
        at++;
        return { min: 1, max: Number.POSITIVE_INFINITY };
      case '?':
        at++;
        return { min: 0, max: 1 };
      case '{': {
        const end = characters.indexOf('}', at);
        const [min = '', max = min] = characters
          .slice(at + 1, end)
          .join('')
          .split(',');
        at = end + 1;
        return { min: Number(min), max: max === '' ? Number.POSITIVE_INFINITY : Number(max) };
      }
      default:
        return undefined;
    }
  }
}
