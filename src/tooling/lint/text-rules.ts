// Rules about names and descriptions.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { clean } from '../clean.js';
import type { Found } from './rules.js';

const MAX_DESCRIPTION = 1024;
/** The longest text that is searched; the rest of a longer one is too long to be read anyway. */
const MAX_SEARCHED = 100_000;

/** Rules about the name of a tool or a prompt. */
export function checkName(name: string): readonly Found[] {
  const found: Found[] = [];
  if (!/^[A-Za-z0-9_.-]+$/.test(name))
    found.push({ rule: 'name-characters', says: 'its name has characters that are not allowed' });
  else if (name.includes('.')) found.push({ rule: 'name-dot', says: 'its name has a dot' });
  if (name.length > 64) found.push({ rule: 'name-length', says: `its name has ${name.length} characters` });
  if (/^[0-9.-]/.test(name))
    found.push({ rule: 'name-start', says: 'its name does not begin with a letter or _' });
  return found;
}

/** Rules about everything that a model or a person reads of a definition. */
export function checkTexts(definition: JsonObject): readonly Found[] {
  const { name, title, description } = definition;
  const found: Found[] = [];
  if (!isText(description))
    found.push({
      rule: 'description-missing',
      says: isText(title) ? 'it has a title, but no description' : 'it has no description',
    });
  else if (description.length > MAX_DESCRIPTION)
    found.push({ rule: 'description-long', says: `its description has ${description.length} characters` });
  for (const [field, text] of Object.entries({ name, title, description })) {
    const invisible = typeof text === 'string' ? invisibleIn(text) : undefined;
    if (invisible) found.push({ rule: 'invisible-characters', says: `${invisible} in its ${field}` });
  }
  return found;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Rules about the hints of a tool. */
export function checkHints({ annotations }: JsonObject): readonly Found[] {
  const { readOnlyHint, destructiveHint } = isObject(annotations) ? annotations : {};
  if (readOnlyHint === true && destructiveHint === true)
    return [{ rule: 'annotations-contradict', says: 'it is marked as reading only and as destructive' }];
  if (readOnlyHint !== undefined || destructiveHint !== undefined) return [];
  return [{ rule: 'annotations-missing', says: 'it does not say whether it changes something' }];
}

/** The characters of a string that nobody can see; undefined if there are none. Those that belong to an emoji do not count. */
export function invisibleIn(text: string): string | undefined {
  const plain = text.slice(0, MAX_SEARCHED).replace(/(\p{Extended_Pictographic})[\ufe0f\u200d]+/gu, '$1');
  const shown = clean(plain);
  if (shown === plain.replaceAll('\r\n', '\n')) return undefined;
  const marks = new Set(
    [...plain].filter((character) => character !== '\r' && clean(character) !== character),
  );
  if (marks.size === 0) return undefined;
  return [...marks]
    .slice(0, 5)
    .map((mark) => `U+${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
    .join(', ');
}
