// An index of tools that are known only by the lists that a server sends.

import { Turns } from '../../../async/turns.js';
import { isObject } from '../../../jsonrpc/message.js';
import { TAGS } from '../../tables/meta-keys.js';
import type { ListedTool } from '../model.js';
import { ToolIndex, type ToolSubset } from './tool-index.js';

/** The tools of one list, and their index. */
export interface IndexedList {
  readonly tools: readonly ListedTool[];
  readonly index: ToolIndex<ListedTool>;
  readonly subset: ToolSubset;
}

/** Lists of callers that see different tools may take turns, so that some tools more than those of the longest list are kept. */
const MAX_EXTRA = 1000;

/** Indexes the tools of lists. A tool that is the same as in a list before need not be indexed again. */
export class ListedIndex {
  #index = newIndex();
  /** By their JSON. */
  #known = new Map<string, ListedTool>();
  #longest = 0;
  #last: readonly ListedTool[] = [];
  readonly #turns = new Turns();

  /** The index of the tools of a list. Entries that are not tools, and repeated ones, are left out. */
  of(listed: readonly unknown[]): Promise<IndexedList> {
    // One after the other: two that add the same tool would both add it.
    return this.#turns.take(() => this.#follow(listed));
  }

  async #follow(listed: readonly unknown[]): Promise<IndexedList> {
    const current = new Map<string, ListedTool>();
    for (const tool of listed) {
      if (!isObject(tool) || typeof tool['name'] !== 'string') continue;
      const print = JSON.stringify(tool);
      current.set(print, this.#known.get(print) ?? (tool as unknown as ListedTool));
    }
    this.#longest = Math.max(this.#longest, current.size);
    for (const [print, tool] of current) this.#known.set(print, tool);
    if (this.#known.size > 2 * this.#longest + MAX_EXTRA) {
      this.#index = newIndex();
      this.#known = current;
      this.#longest = current.size;
    }
    const index = this.#index;
    await index.sync([...this.#known.values()]);
    const tools = this.#same([...current.values()]);
    return { tools, index, subset: index.subset(tools) };
  }

  /** The same array as before if it has the same tools. */
  #same(tools: readonly ListedTool[]): readonly ListedTool[] {
    const last = this.#last;
    if (last.length !== tools.length || tools.some((tool, at) => tool !== last[at])) this.#last = tools;
    return this.#last;
  }
}

function newIndex(): ToolIndex<ListedTool> {
  return new ToolIndex(({ _meta, ...tool }) => ({
    ...tool,
    tags: isObject(_meta) ? (_meta[TAGS] as string[] | undefined) : undefined,
  }));
}
