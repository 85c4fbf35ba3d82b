import { isObject } from '../../jsonrpc/message.js';
import { type ForeignNames, unknownKeys } from './known-keys.js';

// The options of a function are one table: their names, kinds, bounds and defaults. A table is plain data, so that it costs nothing until
// the function is called. The interface of the options has the doc comments, and the compiler compares it with the table.

/** The kinds of options, each with the values that it accepts. */
interface Kinds {
  any: unknown;
  boolean: boolean;
  /** An integer, 1 or more unless `min` says otherwise. */
  count: number;
  /** A number, 0 or more unless `min` says otherwise. */
  number: number;
  /** A number of milliseconds, 0 or more unless `min` says otherwise. */
  ms: number;
  /** Milliseconds for a timer. More than a timer can wait, 24 days, is read as that. */
  timer: number;
  string: string;
  /** An array of strings. */
  strings: readonly string[];
  function: (...args: never) => unknown;
  object: object;
  array: readonly unknown[];
}

type Kind = keyof Kinds;

/** The kinds that accept every value of a type. A union of several kinds is an array. */
type KindOf<Value> =
  | { [K in Kind]: [Value] extends [Kinds[K]] ? K : never }[Kind]
  | readonly [Kind, Kind, ...Kind[]];

/** An option: its kind alone, or with bounds and a default. */
type Entry<Value> = KindOf<Value> | (OfKind<Value> & Details<Value>);

type OfKind<Value> =
  | { readonly is: KindOf<Value>; readonly oneOf?: never }
  /** Values that are accepted besides those of the kind. */
  | { readonly oneOf: readonly Value[]; readonly is?: Kind | readonly Kind[] };

interface Details<Value> {
  /** The least number. */
  readonly min?: number;
  /** The largest number. */
  readonly max?: number;
  /** The value of an option that is undefined. */
  readonly default?: Value;
  /** Whether the option must have a value. */
  readonly required?: true;
  /** The options in a value that is an object. */
  readonly options?: OptionTable<Extract<Value, object>>;
  /** The names that other libraries have for them. */
  readonly foreign?: ForeignNames;
}

/** A table of all options of an interface, for `satisfies`: the compiler reports an option that only one of the two has. */
export type OptionTable<Options> = {
  readonly [Name in keyof Options & string]-?: Entry<Exclude<Options[Name], undefined>>;
};

/** An option that the table has and the interface lacks is an error as well. */
type NoOthers<Options, Table> = { readonly [Name in Exclude<keyof Table, keyof Options>]: never };

/** A table, whatever its options are. */
export type AnyTable = Readonly<Record<string, AnyOption>>;

type AnyOption = Kind | readonly Kind[] | AnyEntry;

interface AnyEntry {
  readonly is?: Kind | readonly Kind[];
  readonly oneOf?: readonly unknown[];
  readonly min?: number;
  readonly max?: number;
  readonly default?: unknown;
  readonly required?: true;
  readonly options?: AnyTable;
  readonly foreign?: ForeignNames;
}

type Defaulted<Table> = {
  [Name in keyof Table]: Table[Name] extends { readonly default: unknown } ? Name : never;
}[keyof Table];

type Filled<Value, Entry> = Entry extends { readonly options: infer Inner }
  ? Value extends object
    ? FilledOptions<Value, Inner>
    : Value
  : Value;

/** Options with their defaults. */
export type FilledOptions<Options, Table> = {
  readonly [Name in keyof Options as Name extends Defaulted<Table> ? never : Name]: Name extends keyof Table
    ? Filled<Exclude<Options[Name], undefined>, Table[Name]>
    : Options[Name];
} & {
  readonly [Name in keyof Options as Name extends Defaulted<Table> ? Name : never]-?: Name extends keyof Table
    ? Filled<Exclude<Options[Name], undefined>, Table[Name]>
    : never;
};

/** Options of which some have their defaults, for a file that exports the type and not the table. */
export type WithDefaults<Options, Names extends keyof Options> = Omit<Options, Names> & {
  readonly [Name in Names]-?: Exclude<Options[Name], undefined>;
};

/** The longest time that a timer can wait; a timer that is set to more fires at once. */
const LONGEST_TIMER_MS = 0x7fffffff;

/** Checks the options of the function `of` and fills in the defaults. Throws a TypeError that names every mistake. */
export function readOptions<Options extends object, const Table extends OptionTable<Options>>(
  of: string,
  options: Options,
  table: Table & NoOthers<Options, Table>,
  foreign?: ForeignNames,
): FilledOptions<Options, Table> {
  return checkOptions(of, options, table, foreign) as FilledOptions<Options, Table>;
}

/** Checks options whose type is not known here. Throws a TypeError that names every mistake. */
export function checkOptions(of: string, options: unknown, table: AnyTable, foreign?: ForeignNames): object {
  const mistakes: string[] = [];
  const read = walk(options, { of, table, foreign, path: '', mistakes });
  if (mistakes.length > 0) throw new TypeError(mistakes.join('\n'));
  return read;
}

/** The mistakes in the options of the function `of`, in sentences. Those of a definition, which has no function, have an empty `of`. */
export function optionMistakes(
  of: string,
  options: unknown,
  table: AnyTable,
  { foreign, path = '' }: { readonly foreign?: ForeignNames | undefined; readonly path?: string } = {},
): readonly string[] {
  const mistakes: string[] = [];
  walk(options, { of, table, foreign, path, mistakes });
  return mistakes;
}

/** Fills in the defaults of options that were checked, and perhaps has others beside them. An option that is undefined is left out. */
export function fillDefaults<Options extends object, const Table extends OptionTable<Options>>(
  options: Options,
  table: Table,
): FilledOptions<Options, Table> {
  return walk(options, { of: '', table, path: '' }) as FilledOptions<Options, Table>;
}

interface Walk {
  readonly of: string;
  readonly table: AnyTable;
  readonly foreign?: ForeignNames | undefined;
  /** The names of the options around these. */
  readonly path: string;
  /** Where the mistakes are reported. Looking for them takes longer than the rest, so it is left out for options that were checked. */
  readonly mistakes?: string[] | undefined;
}

/** Reports the mistakes in options, and returns a copy with the defaults. */
function walk(options: unknown, { of, table, foreign, path, mistakes }: Walk): object {
  const start = of && `${of}: `;
  if (!isObject(options)) {
    mistakes?.push(`${start}the options must be an object, not ${display(options)}.`);
    return {};
  }
  for (const { key, hint } of mistakes ? unknownKeys(options, table, foreign) : [])
    mistakes?.push(
      of ? `${of} has no option "${path}${key}". ${hint}` : `"${path}${key}" is unknown. ${hint}`,
    );
  const read: Record<string, unknown> = { ...options };
  for (const [name, option] of Object.entries(table)) {
    const entry: AnyEntry =
      typeof option === 'string' || Array.isArray(option) ? { is: option } : (option as AnyEntry);
    // Also an option that the object inherits. The copy has those of its own, so that a getter is called once.
    const given = Object.hasOwn(read, name) ? read[name] : options[name];
    const value = given === undefined ? entry.default : given;
    if (value === undefined && !entry.required) delete read[name];
    else if (mistakes && !accepts(entry, value))
      mistakes.push(`${start}"${path}${name}" must be ${expected(entry)}, not ${display(value, entry)}.`);
    else if (entry.options && isObject(value))
      read[name] = walk(value, { ...entry, of, table: entry.options, path: `${path}${name}.`, mistakes });
    else read[name] = entry.is === 'timer' ? timerMs(value as number) : value;
  }
  return read;
}

/** Milliseconds as a timer can wait for them. */
export function timerMs(ms: number): number {
  return Math.min(ms, LONGEST_TIMER_MS);
}

/** The words for a kind, the check of its values, and the least of a number. */
type Check = readonly [words: string, isRight: (value: unknown) => boolean, least?: number];

const isNumber = (value: unknown): boolean => typeof value === 'number';
const ms: Check = ['a number of milliseconds', isNumber, 0];
const checks: Readonly<Partial<Record<Kind, Check>>> = {
  any: ['a value', (value) => value !== undefined],
  count: ['an integer', Number.isSafeInteger, 1],
  number: ['a number', isNumber, 0],
  ms,
  timer: ms,
  strings: [
    'an array of strings',
    (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  ],
  object: ['an object', isObject],
  array: ['an array', Array.isArray],
};

/** The other kinds are named as `typeof` names them. */
function checksOf({ is = [] }: AnyEntry): readonly Check[] {
  const kinds = typeof is === 'string' ? [is] : is;
  return kinds.map((kind) => checks[kind] ?? [`a ${kind}`, (value) => typeof value === kind]);
}

function accepts(entry: AnyEntry, value: unknown): boolean {
  const { oneOf, min, max = Number.POSITIVE_INFINITY } = entry;
  return (
    oneOf?.includes(value) ||
    checksOf(entry).some(
      ([, isRight, least]) =>
        isRight(value) &&
        (least === undefined || ((value as number) >= (min ?? least) && (value as number) <= max)),
    )
  );
}

/** The values that an option accepts, in words. */
function expected(entry: AnyEntry): string {
  const { oneOf = [], max } = entry;
  const all = [
    ...oneOf.map((value) => JSON.stringify(value)),
    ...checksOf(entry).map(([words, , least]) => {
      if (least === undefined) return words;
      const { min = least } = entry;
      return words + (max === undefined ? `, ${min} or more` : ` from ${min} to ${max}`);
    }),
  ];
  const last = all.pop() as string;
  return all.length === 0 ? last : `${all.join(', ')} or ${last}`;
}

/** A wrong value, as far as it cannot be a secret. */
function display(value: unknown, entry: AnyEntry = {}): string {
  const type = typeof value;
  const isShown = entry.oneOf || checksOf(entry).some(([, , least]) => least !== undefined);
  if (isShown && type === 'string') return JSON.stringify((value as string).slice(0, 40));
  if (Array.isArray(value)) return 'an array';
  if (type === 'object' && value !== null) return 'an object';
  return ['string', 'function', 'symbol'].includes(type) ? `a ${type}` : String(value);
}
