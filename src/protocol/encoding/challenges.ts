// Reads `WWW-Authenticate` (RFC 9110, section 11.6.1), also where servers do not follow its grammar: values without quotes, and
// parameters without commas between them. A scanner and not a regular expression, so that no header takes long.

/** One challenge of a `WWW-Authenticate` header. */
export interface ParsedChallenge {
  /** In lower case. */
  readonly scheme: string;
  /** By name in lower case. Of several with one name, the first counts. */
  readonly parameters: ReadonlyMap<string, string>;
}

const MAX_HEADER_LENGTH = 16 * 1024;
const MAX_CHALLENGES = 16;
const MAX_PARAMETERS = 32;

/** All challenges of a header. Several headers of one name are joined with commas, as `Headers.get` does. */
export function parseChallenges(header: string | null | undefined): readonly ParsedChallenge[] {
  return new Scanner((header ?? '').slice(0, MAX_HEADER_LENGTH)).challenges();
}

interface OpenChallenge extends ParsedChallenge {
  readonly parameters: Map<string, string>;
}

class Scanner {
  readonly #text: string;
  readonly #found: OpenChallenge[] = [];
  #at = 0;
  /** The last parameter if its value had no quotes: such a value may continue after a space. */
  #unquoted: string | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  challenges(): readonly ParsedChallenge[] {
    let afterComma = true;
    while (this.#at < this.#text.length && this.#found.length <= MAX_CHALLENGES) {
      const char = this.#text[this.#at] as string;
      if (isSpace(char)) this.#at++;
      else if (char === ',') {
        afterComma = true;
        this.#at++;
      } else {
        if (char === '=' || char === '"') this.#skipJunk(char);
        else this.#readWord(afterComma);
        afterComma = false;
      }
    }
    return this.#found.slice(0, MAX_CHALLENGES);
  }

  /** A word is a scheme, the name of a parameter, or a part of something that is not needed. */
  #readWord(afterComma: boolean): void {
    const word = this.#takeUntil(' \t,="');
    const end = this.#at;
    this.#skipSpaces();
    const current = this.#found.at(-1);
    if (this.#text[this.#at] === '=') {
      this.#at++;
      this.#skipSpaces();
      const next = this.#text[this.#at];
      // Credentials of schemes such as Negotiate end with equals signs.
      if (next === undefined || next === ',' || next === '=') return;
      const value = this.#readValue();
      if (current !== undefined) this.#keep(current, word.toLowerCase(), value);
      return;
    }
    this.#at = end;
    if (afterComma) {
      this.#found.push({ scheme: word.toLowerCase(), parameters: new Map() });
      this.#unquoted = undefined;
    } else if (current !== undefined && this.#unquoted !== undefined) {
      const value = current.parameters.get(this.#unquoted) ?? '';
      current.parameters.set(this.#unquoted, `${value} ${word}`);
    }
  }

  #readValue(): string {
    if (this.#text[this.#at] === '"') return this.#readQuoted();
    return this.#takeUntil(' \t,');
  }

  #keep({ parameters }: OpenChallenge, name: string, value: string): void {
    const isNew = !parameters.has(name) && parameters.size < MAX_PARAMETERS;
    this.#unquoted = isNew && this.#text[this.#at - 1] !== '"' ? name : undefined;
    if (isNew) parameters.set(name, value);
  }

  /** A quoted string; one that does not end takes the rest of the header. */
  #readQuoted(): string {
    let value = '';
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at] as string;
      if (char === '"') {
        this.#at++;
        break;
      }
      if (char === '\\' && this.#at + 1 < this.#text.length) this.#at++;
      value += this.#text[this.#at];
    }
    return value;
  }

  #skipJunk(char: string): void {
    this.#unquoted = undefined;
    if (char === '"') this.#readQuoted();
    else this.#at++;
  }

  #skipSpaces(): void {
    while (isSpace(this.#text[this.#at] ?? '')) this.#at++;
  }

  #takeUntil(ends: string): string {
    const start = this.#at;
    while (this.#at < this.#text.length && !ends.includes(this.#text[this.#at] as string)) this.#at++;
    return this.#text.slice(start, this.#at);
  }
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\t';
}
