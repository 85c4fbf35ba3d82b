// The words of a query: a question of a person, or the keywords of a model.

import { singular } from './singular.js';
import type { QueryWord, Subset, WordIndex } from './word-index.js';
import { wordsOf } from './words.js';

/** The longest query that is read, in characters. */
const MAX_QUERY = 500;
const MAX_WORDS = 48;

/** Words that say nothing about the tool that a question asks for. */
const STOP = new Set(
  `a about all am an and any are as at be been but by can could did do does each for from had has have he her his how i if in into is it
  its just let like may me might my need no not now of on one or our out over please she should so some tell than that the their them
  then there these they this those to tool tools up us use using want was we were what when where which who whose why will with would
  you your`.split(/\s+/),
);

/** Verbs that people use for each other, and words with a common short form. Found by another word, a tool counts less. */
const ALIKE = [
  'delete remove erase drop discard destroy',
  'create add make new insert',
  'update edit modify change set',
  'get fetch read retrieve show view see load display check',
  'list show browse enumerate',
  'search find query lookup',
  'send post deliver',
  'reply answer respond',
  'cancel abort stop terminate end',
  'start launch run execute begin trigger',
  'copy duplicate clone',
  'upload attach',
  'email mail',
  'picture image photo',
  'folder directory',
  'repository repo',
  'database db',
  'document doc',
  'message msg',
  'configuration config setting',
  'organization org',
  'application app',
  'pay payment',
  'person people contact',
].map((line) => line.split(' ').map(singular));
const ALIKE_WEIGHT = 0.35;
const CLOSE_WEIGHT = 0.6;

const alike = new Map<string, Set<string>>();
for (const group of ALIKE)
  for (const word of group) {
    const others = alike.get(word) ?? new Set();
    alike.set(word, others);
    for (const other of group) if (other !== word) others.add(other);
  }

/** The words to search for, in the documents of a subset. */
export function queryWords(query: string, index: WordIndex, subset: Subset): QueryWord[] {
  const words = wordsOf(query.slice(0, MAX_QUERY)).slice(0, MAX_WORDS);
  const telling = words.filter(({ text }) => !STOP.has(text));
  const result: QueryWord[] = [];
  const seen = new Set<string>();
  let group = 0;
  const add = (text: string, weight: number): void => {
    if (seen.has(text)) return;
    seen.add(text);
    result.push({ text, weight, group });
  };
  // A question of nothing but such words is searched for as it is.
  for (const { text, parts } of telling.length > 0 ? telling : words) {
    const forms = [text, ...parts].map(singular);
    for (const each of forms) add(each, 1);
    for (const each of forms) for (const other of alike.get(each) ?? []) add(other, ALIKE_WEIGHT);
    if (!forms.some((each) => index.count(each, subset) > 0))
      for (const close of closeWords(forms[0] as string, index, subset)) add(close, CLOSE_WEIGHT);
    group += 1;
  }
  // "log in" is also `login`, "web hook" `webhook`.
  for (let at = 0; at + 1 < words.length; at++) {
    const joined = singular(`${words[at]?.text}${words[at + 1]?.text}`);
    if (index.count(joined, subset) === 0) continue;
    add(joined, 1);
    group += 1;
  }
  return result;
}

const MAX_CLOSE = 5;
const MIN_CLOSE_LENGTH = 4;

/** The words of documents that an unknown word may have been meant as: one that begins with it, or differs in one letter. */
function closeWords(word: string, index: WordIndex, subset: Subset): string[] {
  if (word.length < MIN_CLOSE_LENGTH) return [];
  const close: string[] = [];
  for (const other of index.words()) {
    if (other[0] !== word[0] || other.length < MIN_CLOSE_LENGTH) continue;
    const isClose = other.startsWith(word) || word.startsWith(other) || isOneEditAway(word, other);
    if (isClose && index.count(other, subset) > 0) close.push(other);
  }
  // Not the order of the index, in which documents outside of the subset have a part.
  return close.sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MAX_CLOSE);
}

/** Whether two different words become the same by inserting, deleting or replacing a letter, or by swapping two. */
function isOneEditAway(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  if (restA.length > restB.length) return restA.slice(1) === restB;
  if (restA.length < restB.length) return restA === restB.slice(1);
  const isSwap = restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2);
  return restA.slice(1) === restB.slice(1) || isSwap;
}
