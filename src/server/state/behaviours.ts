// The switchboard: the defaults that were changed, and which of them a server has.

import { type OptionTable, readOptions } from '../../protocol/checks/options.js';

/** The changed defaults, each with the day since which it holds. docs/compatibility.md repeats the sentences. */
export const behaviours = {
  /** The error for an unknown resource has the number -32602 for clients of 2026-07-28. Before: -32002, as for older clients. */
  'missing-resource-as-invalid-params': '2026-07-28',
  /** A value that is not an object, from a tool without `output`, is sent only as text. Before: also as structured content. */
  'plain-values-as-text': '2026-11-15',
} as const;

/** The last day whose changes this version knows. */
export const KNOWN_UNTIL = '2026-11-16';

/** The name of a changed default. */
export type Behaviour = keyof typeof behaviours;

/** The option `compatibility` in its long form. */
export interface CompatibilityOptions {
  /** The day whose defaults the server keeps, such as `2026-11-16`. Default: those of the installed version. */
  readonly date?: string;
  /** Changed defaults that hold whatever the date is. */
  readonly on?: readonly Behaviour[];
  /** Changed defaults that do not hold whatever the date is. */
  readonly off?: readonly Behaviour[];
}

const optionTable = {
  date: 'string',
  on: 'strings',
  off: 'strings',
} as const satisfies OptionTable<CompatibilityOptions>;

/** The changed defaults that hold for a server. Throws if the option is wrong. */
export function readCompatibility(option: string | CompatibilityOptions = {}): ReadonlySet<Behaviour> {
  const chosen = typeof option === 'string' ? { date: option } : option;
  const { date = KNOWN_UNTIL, on = [], off = [] } = readOptions('compatibility', chosen, optionTable);
  // Days in this form are in the order of their strings. The clock is not asked: it may be wrong when a machine starts.
  if (String(date).length !== 10 || !new Date(date).toJSON()?.startsWith(date) || date > KNOWN_UNTIL)
    throw new TypeError(
      `compatibility: ${date} is not a date until "${KNOWN_UNTIL}", the last day that this version knows.`,
    );
  const names = Object.keys(behaviours) as Behaviour[];
  const wrong = [...on, ...off].find(
    (name) => !names.includes(name) || (on.includes(name) && off.includes(name)),
  );
  if (wrong)
    throw new TypeError(`compatibility: "${wrong}" must be one of ${names}, either in "on" or in "off".`);
  return new Set(
    names.filter((name) => on.includes(name) || (behaviours[name] <= date && !off.includes(name))),
  );
}
