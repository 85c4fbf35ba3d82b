// Shows values that somebody else has written to a person: on one line, within a limit, and with nothing that hides.

/** Deeper values are not shown. */
const MAX_DEPTH = 16;

/**
 * Controls, line ends, spaces other than the usual one, and everything that is invisible or changes the direction of writing: it is
 * written as its number.
 */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;
/** Marks that pile up over other lines. No language needs so many. */
const PILES = /\p{M}{5,}/gu;

/** A value as text. */
export interface Shown {
  readonly text: string;
  /** Whether a part of the value is missing. */
  readonly isCut: boolean;
}

/** Shows a value as JSON. */
export function show(value: unknown, limit: number): Shown {
  let text = '';
  let isCut = false;

  function add(piece: string): void {
    const room = limit - text.length;
    text += cut(piece, room);
    isCut ||= piece.length > room;
  }

  function addAll(
    items: readonly unknown[],
    [open, close]: readonly [string, string],
    each: (item: never) => void,
  ): void {
    add(open);
    for (const [at, item] of items.entries()) {
      if (isCut) return;
      if (at > 0) add(', ');
      each(item as never);
    }
    add(close);
  }

  function write(part: unknown, depth: number): void {
    if (isCut) return;
    if (depth > MAX_DEPTH) isCut = true;
    // The rest would be cut off anyway.
    else if (typeof part === 'string')
      add(visible(JSON.stringify(part.length > limit ? part.slice(0, limit) : part)));
    else if (Array.isArray(part)) addAll(part, ['[', ']'], (item) => write(item, depth + 1));
    else if (isPlain(part))
      addAll(Object.entries(part), ['{', '}'], ([name, field]: [string, unknown]) => {
        write(name, depth + 1);
        add(': ');
        write(field, depth + 1);
      });
    else
      add(typeof part === 'object' && part !== null ? 'a value that cannot be shown' : visible(String(part)));
  }

  write(value, 0);
  return { text: isCut ? `${text}… (cut off)` : text, isCut };
}

/** Shows a string without quotes. */
export function showText(text: string, limit: number): string {
  const line = visible(
    text
      .slice(0, limit * 2)
      .replace(/\s+/g, ' ')
      .trim(),
  );
  return line.length > limit || text.length > limit * 2 ? `${cut(line, limit)}… (cut off)` : line;
}

/** The beginning of a string. Half a character would be shown as something else. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return text.slice(0, /[\uD800-\uDBFF]/.test(text[limit - 1] ?? '') ? limit - 1 : limit);
}

/** Whether a value consists of JSON alone. */
export function isJson(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null)
    return ['string', 'number', 'boolean'].includes(typeof value) || value === null;
  if (depth > MAX_DEPTH) return true;
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1));
  return (
    isPlain(value) && Object.values(value).every((field) => field === undefined || isJson(field, depth + 1))
  );
}

/** Whether a value is an object without a class. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function visible(text: string): string {
  return text.replace(PILES, numbers).replace(HIDDEN, numbers);
}

function numbers(characters: string): string {
  return Array.from(characters, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`).join('');
}
