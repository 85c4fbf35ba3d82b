// JSON Pointers (RFC 6901) in their plain form: no percent-encoding, and the root is the empty string.

/** Appends a token to a pointer. */
export function joinPointer(pointer: string, token: string | number): string {
  return `${pointer}/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function splitPointer(pointer: string): readonly string[] {
  return pointer === '' ? [] : pointer.slice(1).split('/').map(unescapeToken);
}

/** Returns the value at a pointer in plain JSON, or undefined if there is none. */
export function followPointer(json: unknown, pointer: string): unknown {
  let current = json;
  for (const token of splitPointer(pointer)) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, token)) return undefined;
    current = (current as Readonly<Record<string, unknown>>)[token];
  }
  return current;
}

function unescapeToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
