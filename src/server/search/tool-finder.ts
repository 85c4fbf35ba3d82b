// Finds tools for a caller, among those that it sees. Loaded with the first search.

import type { Caller } from '../../protocol/caller.js';
import type { ListedTool } from '../../protocol/model/model.js';
import type { RankRequest, SearchSettings } from '../../protocol/model/search/options.js';
import { MAX_FOUND, rankTools } from '../../protocol/model/search/rank-tools.js';
import { type FoundTools, foundTools } from '../../protocol/model/search/search-tools.js';
import { ToolIndex, type ToolSubset } from '../../protocol/model/search/tool-index.js';
import type { Gate } from '../access/gate.js';
import { Views } from '../access/views.js';
import type { Registry } from '../catalog/registry.js';
import type { CompiledTool } from '../catalog/tools.js';
import { listWithHandles } from '../references/listing.js';
import type { Logger } from '../state/log.js';

/** The server whose tools are searched. */
export interface FinderParts {
  readonly registry: Registry;
  readonly gate: Gate;
  readonly log: Logger;
  readonly options: SearchSettings;
}

/** A search. */
export type FindRequest = Pick<RankRequest, 'query' | 'limit' | 'signal'>;

/** The tools that some callers see. */
interface VisibleTools {
  readonly length: number;
  readonly index: ToolIndex<CompiledTool>;
  readonly subset: ToolSubset;
  readonly listed: readonly ListedTool[];
}

/** Searches the tools of a server. The index is made with the first search, and follows the tools with the first search after a change. */
export class ToolFinder {
  readonly #parts: FinderParts;
  #index: ToolIndex<CompiledTool>;
  #version: number | undefined;
  #views: Promise<Views<CompiledTool, VisibleTools>> | undefined;

  constructor(parts: FinderParts) {
    this.#parts = parts;
    this.#index = newIndex();
  }

  /** Finds the best tools for a query. */
  async find(caller: Caller, { query, limit, signal }: FindRequest): Promise<FoundTools> {
    const { options, log, registry } = this.#parts;
    const { index, subset, listed } = await (await this.#current()).of(caller);
    const found = index
      .search(query, subset, options.rank === undefined ? limit : MAX_FOUND)
      .map(({ tool }) => tool.listed);
    const ranked = await rankTools(
      { query, limit, tools: listed, found: found.map(nameOf), signal },
      options,
      (message, cause) => log('warning', message, cause),
    );
    const best = (ranked ?? found).slice(0, limit);
    return foundTools(registry.hasHandles ? best.map(listWithHandles) : best);
  }

  #current(): Promise<Views<CompiledTool, VisibleTools>> {
    const { version } = this.#parts.registry.tools;
    if (this.#views === undefined || this.#version !== version) {
      this.#version = version;
      this.#views = this.#follow(this.#views);
    }
    return this.#views;
  }

  // One after the other: the index follows one set of tools at a time.
  async #follow(before: Promise<unknown> | undefined): Promise<Views<CompiledTool, VisibleTools>> {
    await before;
    const { registry, gate } = this.#parts;
    const entries = registry.searchableTools();
    // The numbers of an index never change: searches that are under way may use it.
    if (this.#index.isMostlyGone) this.#index = newIndex();
    const index = this.#index;
    await index.sync(entries.map(([, tool]) => tool));
    return new Views(entries, { gate, make: (visible) => visibleTools(index, visible) });
  }
}

function newIndex(): ToolIndex<CompiledTool> {
  return new ToolIndex(({ listed: { name, title, description, inputSchema }, options: { tags } }) => ({
    name,
    title,
    description,
    inputSchema,
    tags,
  }));
}

function visibleTools(
  index: ToolIndex<CompiledTool>,
  visible: readonly (readonly [string, CompiledTool])[],
): VisibleTools {
  const tools = visible.map(([, tool]) => tool);
  return {
    index,
    subset: index.subset(tools),
    listed: tools.map(({ listed }) => listed),
    // The bytes of the array and of the subset, as characters.
    length: 5 * tools.length,
  };
}

function nameOf({ name }: ListedTool): string {
  return name;
}
