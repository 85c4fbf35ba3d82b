import { encodeKeepingReserved } from './characters.js';
import type { Expression, Part, Variable } from './grammar.js';

// Finds the parts of a URI that belong to the parts of a template. From right to left, a table notes for each part the positions
// from which this part and all later ones can match to the end; then a walk from the left never has to backtrack. Both are linear
// in the URI.

/** A URI to match. A step is the length of the code point at a position; 0 if a value cannot contain it. */
export interface MatchTarget {
  readonly uri: string;
  readonly segmentSteps: Uint8Array;
  readonly reservedSteps: Uint8Array;
}

/** A stretch of the URI that is (one item of) a variable's value, still encoded. */
export interface CharSpan {
  readonly variable: Variable;
  readonly reserved: boolean;
  readonly from: number;
  readonly to: number;
}

/** One flag per position in each row. The first row of a part says where the part may begin. */
type Rows = readonly [Uint8Array, ...Uint8Array[]];

export interface PartMatcher {
  /** The rows of this part. `after` is the first row of the next part. */
  readonly reachable: (target: MatchTarget, after: Uint8Array) => Rows;
  /** Consumes this part from a position where it may begin, adds its spans, and returns the position after it. */
  readonly consume: (target: MatchTarget, at: number, table: Table, spans: CharSpan[]) => number;
}

export interface Table {
  readonly rows: Rows;
  readonly after: Uint8Array;
}

export function partMatcher(part: Part): PartMatcher {
  if (part.kind === 'literal') return literalMatcher(literalForms(part.text));
  return part.operator.named ? namedMatcher(part) : positionalMatcher(part);
}

/** The ways to write a literal: encoded as by expansion, or as in the template. */
export function literalForms(text: string): readonly string[] {
  return [...new Set([encodeKeepingReserved(text), text])];
}

function literalMatcher(forms: readonly string[]): PartMatcher {
  return {
    reachable: function reachableLiteral({ uri }, after) {
      const row = new Uint8Array(uri.length + 1);
      for (const form of forms) {
        for (let at = uri.indexOf(form); at !== -1; at = uri.indexOf(form, at + 1)) {
          if (after[at + form.length] === 1) row[at] = 1;
        }
      }
      return [row];
    },
    consume: function consumeLiteral({ uri }, at, { after }) {
      const form = forms.find((form) => uri.startsWith(form, at) && after[at + form.length] === 1);
      return at + (form?.length ?? 0);
    },
  };
}

/** `{a,b}`, `{+a}`, `{#a}`, `{.a}` and `{/a*}`. Row `1 + v` says where the rest can match from within value `v`. */
function positionalMatcher({ operator, variables }: Expression): PartMatcher {
  const { first, reserved } = operator;
  const separator = operator.separator.charCodeAt(0);
  const exploded = variables.map(({ explode }) => explode);
  const last = variables.length - 1;
  // An expression without a leading character in the URI must not be empty: each of its values has a character.
  const required = first === '';

  /** The items of an exploded array cannot contain the separator; a single value may, as an array that is not exploded does. */
  function stepAt({ uri, segmentSteps, reservedSteps }: MatchTarget, v: number, at: number): number {
    if (exploded[v] && uri.charCodeAt(at) === separator) return 0;
    return (reserved ? reservedSteps : segmentSteps)[at] ?? 0;
  }

  function canStart(target: MatchTarget, rows: Rows, v: number, at: number): boolean {
    const step = required ? stepAt(target, v, at) : 0;
    return (!required || step > 0) && rows[1 + v]?.[at + step] === 1;
  }

  /** The variable after a separator: the next one if it can match, else the same one for its next item, else none. */
  function nextVariable(target: MatchTarget, rows: Rows, v: number, at: number): number | undefined {
    if (target.uri.charCodeAt(at) !== separator) return undefined;
    if (v < last && canStart(target, rows, v + 1, at + 1)) return v + 1;
    return exploded[v] && canStart(target, rows, v, at + 1) ? v : undefined;
  }

  function reachablePositional(target: MatchTarget, after: Uint8Array): Rows {
    const { uri } = target;
    const row = (): Uint8Array => new Uint8Array(uri.length + 1);
    const rows: Rows = [row(), ...variables.map(row)];
    for (let at = uri.length; at >= 0; at--) {
      for (let v = last; v >= 0; v--) {
        const inside = rows[1 + v] as Uint8Array;
        const stops = after[at] === 1 && (!required || v === last);
        const step = stepAt(target, v, at);
        if (
          stops ||
          (step > 0 && inside[at + step] === 1) ||
          nextVariable(target, rows, v, at) !== undefined
        ) {
          inside[at] = 1;
        }
      }
      const begins = required
        ? canStart(target, rows, 0, at)
        : after[at] === 1 || (uri[at] === first && canStart(target, rows, 0, at + 1));
      if (begins) rows[0][at] = 1;
    }
    return rows;
  }

  function consumePositional(
    target: MatchTarget,
    begin: number,
    { rows, after }: Table,
    spans: CharSpan[],
  ): number {
    const present = required || (target.uri[begin] === first && canStart(target, rows, 0, begin + 1));
    if (!present) return begin;
    let v = 0;
    let from = begin + first.length;
    let at = required ? from + stepAt(target, v, from) : from;
    for (;;) {
      const stops = after[at] === 1 && (!required || v === last);
      const next = stops ? undefined : nextVariable(target, rows, v, at);
      if (!stops && next === undefined) {
        at += stepAt(target, v, at);
        continue;
      }
      spans.push({ variable: variables[v] as Variable, reserved, from, to: at });
      if (next === undefined) return at;
      v = next;
      from = at + 1;
      at = required ? from + stepAt(target, v, from) : from;
    }
  }

  return { reachable: reachablePositional, consume: consumePositional };
}

/** `{?a,b}`, `{&a}` and `{;a}`. Rows: where it may begin, where a value may continue, where a pair may end. */
function namedMatcher({ operator, variables }: Expression): PartMatcher {
  const { first, separator } = operator;

  /** The variable of the pair at `at`, if the pair and the rest can match. */
  function pairAt(uri: string, at: number, value: Uint8Array, ends: Uint8Array): Variable | undefined {
    return variables.find(({ name }) => {
      if (!uri.startsWith(name, at)) return false;
      const end = at + name.length;
      return uri[end] === '=' ? value[end + 1] === 1 : ends[end] === 1;
    });
  }

  function reachableNamed({ uri, segmentSteps }: MatchTarget, after: Uint8Array): Rows {
    const begins = new Uint8Array(uri.length + 1);
    const value = new Uint8Array(uri.length + 1);
    const ends = new Uint8Array(uri.length + 1);
    for (let at = uri.length; at >= 0; at--) {
      const separates = uri[at] === separator;
      const pair = (separates || uri[at] === first) && pairAt(uri, at + 1, value, ends) !== undefined;
      const step = separates ? 0 : (segmentSteps[at] ?? 0);
      if (after[at] === 1 || (pair && separates)) ends[at] = 1;
      if (after[at] === 1 || (pair && uri[at] === first)) begins[at] = 1;
      if (ends[at] === 1 || (step > 0 && value[at + step] === 1)) value[at] = 1;
    }
    return [begins, value, ends];
  }

  function consumeNamed(
    target: MatchTarget,
    begin: number,
    { rows, after }: Table,
    spans: CharSpan[],
  ): number {
    const { uri, segmentSteps } = target;
    const [, value, ends] = rows as readonly [Uint8Array, Uint8Array, Uint8Array];
    let at = begin;
    let variable = uri[at] === first ? pairAt(uri, at + 1, value, ends) : undefined;
    while (variable !== undefined) {
      at += 1 + variable.name.length;
      if (uri[at] === '=') at += 1;
      const from = at;
      while (ends[at] !== 1) at += segmentSteps[at] as number;
      spans.push({ variable, reserved: false, from, to: at });
      variable = after[at] === 1 ? undefined : pairAt(uri, at + 1, value, ends);
    }
    return at;
  }

  return { reachable: reachableNamed, consume: consumeNamed };
}
