import { type ExpansionValues, expandParts } from './expand.js';
import { readParts } from './grammar.js';
import { createMatcher, type TemplateMatch } from './match.js';

// URI templates: RFC 6570, all four levels, and the way back.

/** A parsed template. */
export interface UriTemplate {
  readonly text: string;
  /** Each name once, in the order of the template. */
  readonly variables: readonly string[];
  /** Throws a `RangeError` where a prefix (`{name:3}`) is given a list or a record. */
  readonly expand: (values: ExpansionValues) => string;
  /**
   * The values that a URI was expanded from, or `undefined` where it was not. Takes time linear in the URI.
   *
   * Where several readings are possible, each value is the shortest that lets the rest match: `{a}.{b}` reads
   * `x.y.z` as `x` and `y.z`. `{a}` and `{+a}` match at least one character; every other expression may be
   * missing. `{a,b}` needs both; in `{/a,b}` later ones may be missing; `{?a,b}` takes its pairs in any order and
   * no others. An exploded variable gives a list; lists and records that are not exploded give their text.
   *
   * A URI does not match where a decoded value has a control character, a `.` or `..` as a path segment, or, outside of `{+a}`
   * and `{#a}`, a slash or backslash. A value of `{+a}` may still begin with a slash.
   */
  readonly match: (uri: string) => TemplateMatch | undefined;
}

/** Reads a template. Throws a `RangeError` that says where and what is wrong. */
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

/** Tells a template from a URI: it has an expression in braces. */
export function isTemplate(text: string): boolean {
  const open = text.indexOf('{');
  return open !== -1 && text.indexOf('}', open) !== -1;
}
