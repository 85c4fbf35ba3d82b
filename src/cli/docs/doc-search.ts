// Finds pages and examples of the documentation by words or a question: BM25 over the parts of all pages, with the words that people ask
// for each page counted apart.

import { queryWords } from '../../protocol/model/search/query-words.js';
import { singular } from '../../protocol/model/search/singular.js';
import { type Match, WordIndex } from '../../protocol/model/search/word-index.js';
import { wordsOf } from '../../protocol/model/search/words.js';
import type { DocPage, DocPart, Documentation } from './documentation.js';

/** A page that fits a query, with its part that fits best. */
export interface FoundPage {
  readonly page: DocPage;
  readonly part: DocPart;
  /** The paragraph of the part that has most words of the query. */
  readonly excerpt: string;
  readonly score: number;
}

/** A block of code that fits a query. */
export interface FoundExample {
  readonly part: DocPart;
  readonly language: string;
  readonly code: string;
}

/** The longest query that is read, in characters. */
export const MAX_QUERY = 500;
/** The most pages or examples that a search returns. */
export const MAX_FOUND = 20;
const MAX_EXCERPT = 500;
const MAX_CODE = 6000;

/** How much each place counts: the words that people ask with, the names and headings of a page, and its best part. */
const SHARES = { asks: 3, names: 0.5, part: 1 };
/** Pages that repeat in detail what others explain. */
const SECTION_WEIGHTS: Readonly<Record<string, number>> = { Reference: 0.4, Command: 0.6, Project: 0.6 };
const WEIGHTS = { heading: 3, title: 1, text: 1 };
/** The parts that are looked at for their pages. */
const MAX_PARTS = 200;

export class DocSearch {
  readonly #pages: readonly DocPage[];
  readonly #parts: readonly DocPart[];
  readonly #asks = new WordIndex();
  readonly #names = new WordIndex();
  readonly #texts = new WordIndex();

  constructor(documentation: Documentation) {
    this.#pages = documentation.pages;
    this.#parts = this.#pages.flatMap((page) => documentation.partsOf(page));
    for (const page of this.#pages) {
      const headings = documentation.partsOf(page).map(({ heading }) => heading);
      this.#asks.add(weighted([page.asks, 1]));
      this.#names.add(weighted([page.name, 3], [headings[0] ?? '', 3], [page.sentence, 1], [page.file, 1]));
    }
    for (const { heading, page, text } of this.#parts)
      this.#texts.add(weighted([heading, WEIGHTS.heading], [page.name, WEIGHTS.title], [text, WEIGHTS.text]));
  }

  /** The pages that fit best, the best first. */
  pages(query: string, limit: number): FoundPage[] {
    const best = this.#bestParts(query);
    const byPage = new Map<DocPage, { part: DocPart; score: number }>();
    for (const { part, score } of best)
      if (!byPage.has(part.page)) byPage.set(part.page, { part, score: SHARES.part * score });
    const asked = relative(find(this.#asks, query, this.#pages.length));
    const named = relative(find(this.#names, query, this.#pages.length));
    const scores = this.#pages.map((page, at) => {
      const sum =
        (byPage.get(page)?.score ?? 0) +
        SHARES.asks * (asked.get(at) ?? 0) +
        SHARES.names * (named.get(at) ?? 0);
      return { page, score: sum * this.#weightOf(page, query) };
    });
    const wanted = telling(query);
    return scores
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, Math.min(limit, MAX_FOUND))
      .map(({ page, score }) => {
        const part = byPage.get(page)?.part ?? (this.#parts.find((one) => one.page === page) as DocPart);
        return { page, part, score, excerpt: excerptOf(part.text, wanted) };
      });
  }

  /** The blocks of code that fit best, the best first. */
  examples(query: string, limit: number): FoundExample[] {
    const found: FoundExample[] = [];
    const most = Math.min(limit, MAX_FOUND);
    const order = new Map(this.pages(query, MAX_FOUND).map(({ page }, at) => [page, at]));
    const ranked = this.#bestParts(query)
      .map(({ part, score }) => ({ part, score: score / (1 + (order.get(part.page) ?? MAX_FOUND)) }))
      .sort((a, b) => b.score - a.score);
    for (const { part } of ranked)
      for (const { language, code } of blocksOf(part)) {
        if (found.length === most) return found;
        found.push({ part, language, code });
      }
    return found;
  }

  #bestParts(query: string): { part: DocPart; score: number }[] {
    const found = find(this.#texts, query, MAX_PARTS);
    const [first] = found;
    return found
      .map(({ document, score }) => {
        const part = this.#parts[document] as DocPart;
        return { part, score: score / (first?.score ?? 1) };
      })
      .sort((a, b) => b.score - a.score);
  }

  /** A page of the reference or of a command counts in full if the query has the name of something on it. */
  #weightOf(page: DocPage, query: string): number {
    const weight = SECTION_WEIGHTS[page.section] ?? 1;
    if (weight === 1) return 1;
    const words = new Set(query.slice(0, MAX_QUERY).split(/[^\w/.-]+/));
    const isNamed =
      words.has(page.name) ||
      (words.has('fullmcp') && page.section === 'Command' && words.has(page.name.split(' ')[1] ?? '')) ||
      this.#parts.some(
        (part) => part.page === page && /[a-z][A-Z]/.test(part.heading) && words.has(part.heading),
      );
    return isNamed ? 1.5 : weight;
  }
}

/** The words of some strings, each with a weight. */
function weighted(...texts: readonly (readonly [text: string, weight: number])[]): Map<string, number> {
  const words = new Map<string, number>();
  for (const [text, weight] of texts)
    for (const { text: whole, parts } of wordsOf(text))
      for (const word of [whole, ...parts]) {
        const form = singular(word);
        words.set(form, (words.get(form) ?? 0) + weight);
      }
  return words;
}

function find(index: WordIndex, query: string, limit: number): Match[] {
  const all = index.subset(Array.from({ length: index.size }, (_, number) => number));
  const short = query.slice(0, MAX_QUERY);
  // Every page is about MCP.
  const words = short.replaceAll(/\b(?:full)?mcp\b/gi, ' ').trim() || short;
  return index.search(queryWords(words, index, all), all, limit);
}

/** The scores as shares of the best one. */
function relative(found: readonly Match[]): Map<number, number> {
  const best = found[0]?.score ?? 1;
  return new Map(found.map(({ document, score }) => [document, score / best]));
}

/** The words of a query, as they are compared with those of a paragraph. */
function telling(query: string): ReadonlySet<string> {
  return new Set(weighted([query.slice(0, MAX_QUERY), 1]).keys());
}

function excerptOf(text: string, wanted: ReadonlySet<string>): string {
  const paragraphs = text
    .split(/\n{2,}/)
    .map((part) => part.trim())
    .filter((part) => part !== '' && !part.startsWith('#'));
  let best = paragraphs[0] ?? '';
  let most = 0;
  for (const paragraph of paragraphs) {
    const found = [...weighted([paragraph, 1]).keys()].filter((word) => wanted.has(word)).length;
    if (found > most) [best, most] = [paragraph, found];
  }
  return best.length <= MAX_EXCERPT ? best : `${best.slice(0, MAX_EXCERPT - 1)}…`;
}

/** The blocks of code of a part. The reference also has signatures, which are not examples. */
function blocksOf({ page, text }: DocPart): { language: string; code: string }[] {
  const blocks: { language: string; code: string }[] = [];
  let lines: string[] | undefined;
  let [fence, language, before] = ['', '', ''];
  for (const line of text.split('\n')) {
    const [, mark = '', info = ''] = /^ *(`{3,}|~{3,})(\w*)/.exec(line) ?? [];
    if (lines === undefined && mark !== '') [lines, fence, language] = [[], mark, info];
    else if (lines !== undefined && mark !== '' && mark.startsWith(fence)) {
      const isExample = language !== 'text' && (page.section !== 'Reference' || before === 'Example:');
      if (isExample) blocks.push({ language, code: lines.join('\n').slice(0, MAX_CODE) });
      lines = undefined;
    } else if (lines !== undefined) lines.push(line);
    else if (line.trim() !== '') before = line.trim();
  }
  return blocks;
}
