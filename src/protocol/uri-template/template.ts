import { type ExpansionValues, expandParts } from './expand.js';
import { readParts } from './grammar.js';
import { createMatcher, type TemplateMatch } from './match.js';

// URI templates: expansion by RFC 6570, all four levels, and matching, which the RFC leaves open.

/** A parsed template. */
export interface UriTemplate {
  readonly text: string;
  /** Each name once, in the order of the template. */
  readonly variables: readonly string[];
  /** Expands the template. Throws a `RangeError` if a variable with a prefix (`{name:3}`) is given an array or an object. */
  readonly expand: (values: ExpansionValues) => string;
  /**
   * The values that a URI was expanded from; `undefined` if it does not match. Takes time linear in the URI.
   *
   * Where several readings are possible, each value is the shortest that lets the rest match: `{a}.{b}` reads
   * `x.y.z` as `x` and `y.z`. `{a}` and `{+a}` match at least one character; every other expression may be
   * missing. `{a,b}` needs both; in `{/a,b}` later ones may be missing; `{?a,b}` takes its pairs in any order and
   * no others. An exploded variable gives an array; arrays and objects that are not exploded give a string.
   *
   * A URI does not match if a decoded value has a control character, a `.` or `..` as a path segment, or, outside `{+a}`
   * and `{#a}`, a slash or backslash. A value of `{+a}` may still begin with a slash.
   */
  readonly match: (uri: string) => TemplateMatch | undefined;
}

/** Parses a template. Throws a `RangeError` that says what is wrong, and where. */
export function parseTemplate(text: string): UriTemplate {
  const parts = readParts(text);
  const names = parts.flatMap((part) =>
    part.kind === 'literal' ? [] : part.variables.map(({ name }) => name),
  );
  return {
    text,
    variables: [...new Set(names)],
    expand: function expand(values) {
      return expandParts(parts, values);
    },
    match: createMatcher(parts),
  };
}

/** Whether a string is a template: it has an expression in braces. */
export function isTemplate(text: string): boolean {
  const open = text.indexOf('{');
  return open !== -1 && text.indexOf('}', open) !== -1;
}
