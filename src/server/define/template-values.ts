// The variables of a URI template as types, as `protocol/uri-template/match.ts` gives them.

/**
 * The decoded variables of a template that the compiler does not know. A variable that the URI leaves out is `undefined`; an
 * exploded variable (`{path*}`) is an array.
 */
export type TemplateValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The variables of a URI template. `users://{id}` gives `{ id: string }`. `{?q}`, `{&q}`, `{/q}`, `{.q}`, `{;q}` and `{#q}` may
 * be missing from a URI, so `q` is optional there; `{path*}` gives an array.
 */
export type VariablesOf<Uri extends string> = string extends Uri
  ? TemplateValues
  : {
      readonly [V in Expressions<Uri> as V extends Always ? V['name'] : never]: V['value'];
    } & {
      readonly [V in Expressions<Uri> as V extends Always ? never : V['name']]?: V['value'];
    };

interface Variable<Name extends string, Value, Presence> {
  readonly name: Name;
  readonly value: Value;
  readonly presence: Presence;
}

type Always = Variable<string, unknown, 'always'>;

type Expressions<Uri extends string> = Uri extends `${string}{${infer Expression}}${infer Rest}`
  ? Named<Expression> | Expressions<Rest>
  : never;

type Named<Expression extends string> = Expression extends `+${infer List}`
  ? Listed<List, 'always'>
  : Expression extends `${'#' | '.' | '/' | ';' | '?' | '&'}${infer List}`
    ? Listed<List, 'maybe'>
    : Listed<Expression, 'always'>;

type Listed<List extends string, Presence> = List extends `${infer First},${infer Rest}`
  ? Modified<First, Presence> | Listed<Rest, Presence>
  : Modified<List, Presence>;

type Modified<Text extends string, Presence> = Text extends `${infer Name}*`
  ? Variable<Name, readonly string[], Presence>
  : Text extends `${infer Name}:${string}`
    ? Variable<Name, string, Presence>
    : Variable<Text, string, Presence>;
