// Tools that a model may mix up: names that differ in marks alone, descriptions that say the same.

import type { JsonObject } from '../../jsonrpc/message.js';
import { cleanLine } from '../clean.js';
import type { Found } from './rules.js';

const MAX_COMPARED = 400;
const MAX_WORDS = 80;
const LEAST_WORDS = 4;
/** The share of words that two descriptions must have in common. */
const ALIKE = 0.85;

/** Findings about pairs of tools, by the name of the second one. */
export function checkSimilar(tools: readonly JsonObject[]): ReadonlyMap<string, readonly Found[]> {
  const found = new Map<string, Found[]>();
  const add = (name: string, one: Found): void => void found.set(name, [...(found.get(name) ?? []), one]);
  const names = new Map<string, string>();
  const described: { name: string; words: ReadonlySet<string> }[] = [];
  for (const tool of tools) {
    const name = String(tool['name']);
    const folded = fold(name);
    const other = names.get(folded);
    if (other !== undefined)
      add(name, { rule: 'similar-name', says: `its name is almost that of ${cleanLine(other, 128)}` });
    else names.set(folded, name);
    const words = wordsOf(tool['description']);
    if (words.size < LEAST_WORDS || described.length >= MAX_COMPARED) continue;
    const twin = described.find((earlier) => isAlike(earlier.words, words));
    if (twin !== undefined)
      add(name, {
        rule: 'similar-description',
        says: `its description is almost that of ${cleanLine(twin.name, 128)}`,
      });
    described.push({ name, words });
  }
  return found;
}

/** A name without case, marks and the plural, and with the characters alike that look alike. */
function fold(name: string): string {
  const plain = name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[_.\s-]/g, '');
  return plain.replaceAll(/[1i|]/g, 'l').replaceAll('0', 'o').replace(/s$/, '');
}

function wordsOf(description: unknown): ReadonlySet<string> {
  if (typeof description !== 'string') return new Set();
  const words = description
    .slice(0, 2000)
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return new Set(words.filter((word) => word !== '').slice(0, MAX_WORDS));
}

function isAlike(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const shared = [...one].filter((word) => other.has(word)).length;
  return shared / (one.size + other.size - shared) >= ALIKE;
}
