// Finds patterns whose matching time doubles with each character of a string that almost matches: they repeat a group that can split
// the same characters in more than one way, as in `(a+)+`, `(\w+\s?)*` or `(.|\s)*`. Only certain cases are reported, so that
// every warning deserves attention.

import { type Alternatives, type Item, readPattern } from './pattern-items.js';

/** A repetition that may happen this often is treated as unlimited. */
const MANY = 16;

/** Whether matching can take exponential time. */
export function isSlowPattern(pattern: string): boolean {
  const alternatives = readPattern(pattern);
  return alternatives !== undefined && hasSlowGroup(alternatives);
}

function hasSlowGroup(alternatives: Alternatives): boolean {
  return alternatives.some((items) =>
    items.some(({ group, max }) => {
      if (group === undefined) return false;
      return (max >= MANY && splitsInMoreThanOneWay(group)) || hasSlowGroup(group);
    }),
  );
}

function splitsInMoreThanOneWay(group: Alternatives): boolean {
  return (
    group.some(isLoose) || group.some((items, i) => group.slice(i + 1).some((other) => overlap(items, other)))
  );
}

/** Whether one repetition of the group can match as much as several: an unlimited item, and no required one that differs. */
function isLoose(items: readonly Item[]): boolean {
  return items.some((item, i) => {
    const others = items.filter((other, j) => j !== i && other.min > 0);
    if (item.group !== undefined) {
      const isEndless = item.max >= MANY || item.group.some(isLoose);
      return isEndless && others.length === 0;
    }
    return item.max >= MANY && others.every((other) => other.group === undefined && share(item, other));
  });
}

/** Whether both are single characters that may be the same. */
function overlap(a: readonly Item[], b: readonly Item[]): boolean {
  const [one, ...more] = a;
  const [other, ...others] = b;
  if (one === undefined || other === undefined || more.length > 0 || others.length > 0) return false;
  return one.group === undefined && other.group === undefined && share(one, other);
}

function share(a: Item, b: Item): boolean {
  const first = characters(a.source);
  const second = characters(b.source);
  return SAMPLES.some((_, i) => first[i] && second[i]);
}

// ASCII, and a few letters and spaces beyond it.
const SAMPLES: readonly string[] = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ...'éÄßжひ中\u00a0\u2028😀',
];

/** For each sample, whether one character of the pattern matches it. */
function characters(source: string): readonly boolean[] {
  try {
    const one = new RegExp(`^(?:${source})$`, 'u');
    return SAMPLES.map((sample) => one.test(sample));
  } catch {
    return []; // a reference to a group, which may match anything
  }
}
