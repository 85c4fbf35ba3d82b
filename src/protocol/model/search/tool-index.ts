// Finds tools by words, among those that a caller sees.

import { inSlices } from '../../../async/in-slices.js';
import { queryWords } from './query-words.js';
import { type SearchableTool, toolWords } from './tool-words.js';
import { type Subset, WordIndex } from './word-index.js';

/** Some tools of an index. */
export type ToolSubset = Subset;

/** A tool that was found. Scores of the same search can be compared, those of two searches cannot. */
export interface FoundTool<T> {
  readonly tool: T;
  readonly score: number;
}

/** An index of tools that come and go. */
export class ToolIndex<T extends object> {
  readonly #toSearchable: (tool: T) => SearchableTool;
  readonly #words = new WordIndex();
  readonly #numbers = new Map<T, number>();
  readonly #tools: T[] = [];
  readonly #names: string[] = [];

  constructor(toSearchable: (tool: T) => SearchableTool) {
    this.#toSearchable = toSearchable;
  }

  /** Whether most tools of the index are gone, so that a new index would be better. */
  get isMostlyGone(): boolean {
    return this.#tools.length > 2 * this.#numbers.size + 100;
  }

  /** Adds the tools that are new and forgets those that are gone, a few hundred per turn of the event loop. */
  async sync(tools: readonly T[]): Promise<void> {
    const current = new Set(tools);
    for (const tool of this.#numbers.keys()) if (!current.has(tool)) this.#numbers.delete(tool);
    await inSlices(
      tools.filter((tool) => !this.#numbers.has(tool)),
      (tool) => this.#add(tool),
    );
  }

  #add(tool: T): void {
    const searchable = this.#toSearchable(tool);
    const number = this.#words.add(toolWords(searchable));
    this.#numbers.set(tool, number);
    this.#tools[number] = tool;
    this.#names[number] = searchable.name.toLowerCase();
  }

  /** A subset of the tools. Those that the index does not have are left out. */
  subset(tools: Iterable<T>): ToolSubset {
    const numbers: number[] = [];
    for (const tool of tools) {
      const number = this.#numbers.get(tool);
      if (number !== undefined) numbers.push(number);
    }
    return this.#words.subset(numbers);
  }

  /** The best tools of a subset, the best first. A tool that the query names is always the first. */
  search(query: string, subset: ToolSubset, limit: number): FoundTool<T>[] {
    const words = queryWords(query, this.#words, subset);
    const found = this.#words
      .search(words, subset, limit)
      .map(({ document, score }) => ({ tool: this.#tools[document] as T, score }));
    return this.#withNamed(query.trim().toLowerCase(), found, { subset, limit });
  }

  #withNamed(
    name: string,
    found: FoundTool<T>[],
    { subset, limit }: { readonly subset: ToolSubset; readonly limit: number },
  ): FoundTool<T>[] {
    const number = name.includes(' ') ? -1 : this.#names.findIndex(isNamed);
    const tool = this.#tools[number];
    if (tool === undefined || found[0]?.tool === tool) return found;
    const others = found.filter((each) => each.tool !== tool);
    return [{ tool, score: found[0]?.score ?? 1 }, ...others].slice(0, limit);

    function isNamed(other: string, at: number): boolean {
      return other === name && (subset.has === undefined ? at < subset.total : subset.has[at] === 1);
    }
  }
}
