/** JSON Pointer (RFC 6901) in its plain form: no percent-encoding, the root is the empty string. */
export function joinPointer(pointer: string, token: string | number): string {
  return `${pointer}/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function splitPointer(pointer: string): readonly string[] {
  return pointer === '' ? [] : pointer.slice(1).split('/').map(unescapeToken);
}

/** What stands at a pointer in plain JSON; `undefined` when nothing does. */
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
