// How the search of the site ranks: used where the index is built, and in the browser.

/** Words that say nothing about a page. */
const EMPTY = new Set(
  'a an and are as at be by can do does for from how i if in into is it its me my no not of on or so some that the their them this to use using was we what when will with you your'.split(
    ' ',
  ),
);

/** Words that nearly every page has, so that they say little about one. */
const COMMON = new Set(['tool', 'server', 'client', 'user', 'mcp', 'fullmcp']);

/** Pages that have words of every subject weigh less, so that the page about a subject is above them. */
const WEIGHTS = /** @type {const} */ ([
  [/^\/recipes\//, 0.7],
  [/^\/reference\//, 0.3],
  [/^\/cli\//, 0.5],
  [/^\/(architecture|rooms|stability|readme|contributing)\.html/, 0.2],
]);

/** The letters of a word that is compared as it stands. */
const SHORT = 4;

/** The weight of a word that people use for a page, where the hit is the page itself; less for a recipe, so that its guide is above it. */
const ASKED = 6;
const ASKED_RECIPE = 4;

/** A word as the index has it: in small letters, in the singular. Null for one without a meaning. @param {string} term */
export function processTerm(term) {
  const word = term.toLowerCase();
  if (EMPTY.has(word)) return null;
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

/**
 * The options of MiniSearch. `asks` has the words that people use for a page, by its address.
 * @param {Readonly<Record<string, string>>} asks
 */
export function ranking(asks) {
  const words = new Map(
    Object.entries(asks).map(([page, list]) => [page, new Set(list.split(/[\s.]+/).map(processTerm))]),
  );
  return {
    options: { processTerm },
    searchOptions: {
      boost: { title: 4, titles: 1, text: 2 },
      // The last word may still be typed. Of others, short ones begin too many words.
      prefix: (term, at, terms) => at === terms.length - 1 || term.length > SHORT,
      // One letter more or less makes another word of a short one: "ask" and "task".
      fuzzy: (term) => (term.length > SHORT ? 0.2 : 0),
      /** @param {string} term */
      boostTerm: (term) => (COMMON.has(term) ? 0.2 : 1),
      /** @param {string} id @param {string} term @param {{ titles?: readonly string[] }} stored */
      boostDocument(id, term, { titles = [] } = {}) {
        const page = id.replace(/#.*/, '');
        if (titles.length === 0 && words.get(page)?.has(term))
          return page.startsWith('/recipes/') ? ASKED_RECIPE : ASKED;
        return WEIGHTS.find(([pattern]) => pattern.test(page))?.[1] ?? 1;
      },
    },
  };
}
