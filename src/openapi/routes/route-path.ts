// From the path of a framework's route to one of OpenAPI.

/** The ways in which frameworks write parameters. */
export type PathSyntax = 'hono' | 'express' | 'fastify';

const NAME = /[A-Za-z0-9_$]/;
/** Wildcards, optional parts and expressions: paths of OpenAPI have nothing like them. */
const SPECIAL = /[*?+()[\]{}\\"'!|^\s]|[^\x21-\x7e]/;

/** `/orders/{id}` for `/orders/:id`; undefined for a path that OpenAPI cannot express. */
export function toTemplate(path: string, syntax: PathSyntax): string | undefined {
  let template = '';
  let at = 0;
  while (at < path.length) {
    const char = path.charAt(at);
    if (char !== ':') {
      if (SPECIAL.test(char)) return undefined;
      template += char;
      at++;
      continue;
    }
    let end = at + 1;
    while (end < path.length && isNameChar(path.charAt(end), syntax)) end++;
    const name = path.slice(at + 1, end);
    if (name === '') return undefined;
    template += `{${name}}`;
    // A constraint on the value: the app checks it, and replies with 404.
    const after = skipConstraint(path, end, syntax === 'hono' ? '{}' : '()');
    if (after === undefined) return undefined;
    at = after;
  }
  if (template === '') return '/';
  return template.startsWith('/') ? template : undefined;
}

// In Hono, a parameter is a whole segment, and its name may have other characters.
function isNameChar(char: string, syntax: PathSyntax): boolean {
  return syntax === 'hono' ? char !== '/' && char !== '{' && !SPECIAL.test(char) : NAME.test(char);
}

/** The position after a constraint such as `{[0-9]+}` or `(\\d+)`, if there is one; undefined if it does not end. */
function skipConstraint(path: string, start: number, [open, close]: string): number | undefined {
  if (path.charAt(start) !== open) return start;
  let depth = 0;
  for (let at = start; at < path.length; at++) {
    const char = path.charAt(at);
    if (char === '\\') at++;
    else if (char === open) depth++;
    else if (char === close && --depth === 0) return at + 1;
  }
  return undefined;
}

/** The names of the parameters in the path of an OpenAPI document. */
export function parametersOf(template: string): readonly string[] {
  return Array.from(template.matchAll(/\{([^{}/]+)\}/g), ([, name]) => name as string);
}
