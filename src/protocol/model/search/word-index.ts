// Ranks documents by the words of a query: BM25, over all documents or over some of them.

/** How much a repeated word counts, and how much a long document is worth less. */
export interface RankingParameters {
  /** The saturation of repeated words. */
  readonly k: number;
  /** The influence of the length, from 0 to 1. */
  readonly b: number;
  /** The influence of the share of the query's words that a document has. 0: none. */
  readonly coverage: number;
}

/** A word of a query. Words of the same group, which are next to each other, are forms of one word: they count as one that was found. */
export interface QueryWord {
  readonly text: string;
  readonly weight: number;
  readonly group: number;
}

/** The documents that a search is about, as if no others existed. */
export interface Subset {
  /** Whether a document is in the subset, by its number; undefined if all are that the index had then. */
  readonly has: Uint8Array | undefined;
  /** The number of documents that the index had when the subset was made. Later ones are outside. */
  readonly total: number;
  readonly size: number;
  readonly averageLength: number;
}

/** A document that was found. */
export interface Match {
  readonly document: number;
  readonly score: number;
}

interface Postings {
  /** The documents that have the word, in the order of their numbers. */
  readonly documents: number[];
  /** How often each of them has the word, weighted by the place. */
  readonly counts: number[];
}

const defaults: RankingParameters = { k: 1.2, b: 0.6, coverage: 1 };
const NO_GROUP = -1;

/** An inverted index. Documents get numbers, and are only ever added: leave those that were removed out of the subset. */
export class WordIndex {
  readonly #postings = new Map<string, Postings>();
  readonly #lengths: number[] = [];
  readonly #parameters: RankingParameters;
  // Reused by every search, and cleared after it.
  #scores = new Float64Array(0);
  #found = new Uint16Array(0);
  #lastGroup = new Int16Array(0);

  constructor(parameters: RankingParameters = defaults) {
    this.#parameters = parameters;
  }

  /** The number of documents that were added. */
  get size(): number {
    return this.#lengths.length;
  }

  /** Adds a document by its weighted words. Returns its number. */
  add(words: ReadonlyMap<string, number>): number {
    const document = this.#lengths.length;
    let length = 0;
    for (const [word, count] of words) {
      length += count;
      const postings = this.#postings.get(word);
      if (postings === undefined) this.#postings.set(word, { documents: [document], counts: [count] });
      else {
        postings.documents.push(document);
        postings.counts.push(count);
      }
    }
    this.#lengths.push(length);
    return document;
  }

  subset(documents: Iterable<number>): Subset {
    const has = new Uint8Array(this.size);
    let size = 0;
    let length = 0;
    for (const document of documents) {
      has[document] = 1;
      size += 1;
      length += this.#lengths[document] as number;
    }
    const averageLength = size === 0 ? 1 : length / size;
    return { has: size === this.size ? undefined : has, total: this.size, size, averageLength };
  }

  /** The number of documents of a subset that have a word. */
  count(word: string, { has, total }: Subset): number {
    const postings = this.#postings.get(word);
    if (postings === undefined) return 0;
    const { documents } = postings;
    if (has === undefined && total === this.size) return documents.length;
    let count = 0;
    for (const document of documents) if (isIn(document, has, total)) count += 1;
    return count;
  }

  /** All words that documents have, of the subset or not. */
  words(): Iterable<string> {
    return this.#postings.keys();
  }

  /**
   * The best documents of a subset, the best first; of equal ones, the one that was added first. Nothing depends on the documents outside
   * of the subset.
   */
  search(query: readonly QueryWord[], subset: Subset, limit: number): Match[] {
    this.#makeRoom();
    const touched: number[] = [];
    const groups = new Set<number>();
    for (const word of query) if (this.#score(word, subset, touched)) groups.add(word.group);
    const best = new Best(limit);
    for (const document of touched) {
      const share = (this.#found[document] as number) / groups.size;
      best.add(document, (this.#scores[document] as number) * share ** this.#parameters.coverage);
      this.#scores[document] = 0;
      this.#found[document] = 0;
      this.#lastGroup[document] = NO_GROUP;
    }
    return best.matches;
  }

  /** Adds the scores of one word. Returns whether a document of the subset has it. */
  #score({ text, weight, group }: QueryWord, subset: Subset, touched: number[]): boolean {
    const postings = this.#postings.get(text);
    const count = this.count(text, subset);
    if (postings === undefined || count === 0) return false;
    const { has, total, size, averageLength } = subset;
    const { k, b } = this.#parameters;
    const rarity = weight * Math.log(1 + (size - count + 0.5) / (count + 0.5)) * (k + 1);
    const shortest = k * (1 - b);
    const perLength = (k * b) / averageLength;
    const { documents, counts } = postings;
    for (let at = 0; at < documents.length; at++) {
      const document = documents[at] as number;
      if (!isIn(document, has, total)) continue;
      const times = counts[at] as number;
      const score = (rarity * times) / (times + shortest + perLength * (this.#lengths[document] as number));
      if (this.#found[document] === 0) touched.push(document);
      if (this.#lastGroup[document] !== group) {
        this.#lastGroup[document] = group;
        this.#found[document] = (this.#found[document] as number) + 1;
      }
      this.#scores[document] = (this.#scores[document] as number) + score;
    }
    return true;
  }

  #makeRoom(): void {
    if (this.#scores.length >= this.size) return;
    const size = this.size + (this.size >> 2);
    this.#scores = new Float64Array(size);
    this.#found = new Uint16Array(size);
    this.#lastGroup = new Int16Array(size).fill(NO_GROUP);
  }
}

function isIn(document: number, has: Uint8Array | undefined, total: number): boolean {
  return has === undefined ? document < total : has[document] === 1;
}

/** The best matches so far, the best first. Few are asked for, so that each new one is put in its place. */
class Best {
  readonly matches: Match[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(document: number, score: number): void {
    const { matches } = this;
    const last = matches.at(-1);
    if (matches.length === this.#limit && last !== undefined && !isBetter(document, score, last)) return;
    if (matches.length === this.#limit) matches.pop();
    let at = matches.length;
    while (at > 0 && isBetter(document, score, matches[at - 1] as Match)) at -= 1;
    matches.splice(at, 0, { document, score });
  }
}

function isBetter(document: number, score: number, other: Match): boolean {
  return score > other.score || (score === other.score && document < other.document);
}
