import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { Outcome } from '../../../protocol/call.js';
import { encodeHeaderValue } from '../../../protocol/encoding/header-value.js';
import type { ParamHeader } from '../../../protocol/encoding/param-headers.js';
import { boundedKey, shorten } from '../../../protocol/encoding/shorten.js';

type ParamHeadersModule = typeof import('../../../protocol/encoding/param-headers.js');

const MAX_TOOLS = 10_000;

/** The parameters of tools that must be sent as headers, learnt from tool lists. */
export class ToolHeaders {
  readonly #paramHeaders = new Map<string, readonly ParamHeader[]>();
  readonly #skippedTools = new Set<string>();
  readonly #problem: (message: string) => void;
  /** Loaded when a tool first needs headers, which is rare. */
  #module: ParamHeadersModule | undefined;

  constructor(problem: (message: string) => void) {
    this.#problem = problem;
  }

  /**
   * Learns from a result of `tools/list`, and removes tools whose annotations are invalid, so that they are not called. Spec
   * 2026-07-28, Streamable HTTP, Custom Headers.
   */
  async learn(outcome: Outcome): Promise<Outcome> {
    const { tools } = outcome;
    if (!Array.isArray(tools)) return outcome;
    if (tools.some(hasParamHeaders))
      this.#module ??= await import('../../../protocol/encoding/param-headers.js');
    const usable = tools.filter((tool) => this.#learnTool(tool));
    return usable.length === tools.length ? outcome : { ...outcome, tools: usable };
  }

  #learnTool(tool: unknown): boolean {
    if (!isObject(tool)) return true;
    const { name, inputSchema } = tool;
    if (typeof name !== 'string' || !isObject(inputSchema)) return true;
    const key = boundedKey(name);
    this.#paramHeaders.delete(key);
    if (this.#module === undefined || !hasParamHeaders(tool)) return true;
    const { paramHeaders, problems } = this.#module.findParamHeaders(inputSchema);
    if (problems.length > 0) {
      this.#report(shorten(name, 128), shorten(problems.join(' '), 1000));
      return false;
    }
    const [oldest] = this.#paramHeaders.size >= MAX_TOOLS ? this.#paramHeaders.keys() : [];
    if (oldest !== undefined) this.#paramHeaders.delete(oldest);
    this.#paramHeaders.set(key, paramHeaders);
    return true;
  }

  /** Reports each tool once, however often it is listed. */
  #report(name: string, why: string): void {
    if (this.#skippedTools.has(name) || this.#skippedTools.size >= MAX_TOOLS) return;
    this.#skippedTools.add(name);
    this.#problem(`Tool ${JSON.stringify(name)} was left out: ${why}`);
  }

  /** The headers that a call of this tool must carry. */
  headers({ name, arguments: args }: JsonObject): Record<string, string> | undefined {
    const paramHeaders = this.#paramHeaders.get(boundedKey(String(name)));
    if (paramHeaders === undefined || this.#module === undefined) return undefined;
    const headers: Record<string, string> = {};
    for (const paramHeader of paramHeaders) {
      const value = this.#module.paramHeaderValue(paramHeader, args);
      // The server rejects a value of another type than the schema's.
      if (value !== undefined && typeof value !== 'object') {
        headers[`Mcp-Param-${paramHeader.name}`] = encodeHeaderValue(value as string | number | boolean);
      }
    }
    return headers;
  }
}

function hasParamHeaders(tool: unknown): boolean {
  return (
    isObject(tool) &&
    isObject(tool['inputSchema']) &&
    JSON.stringify(tool['inputSchema']).includes('"x-mcp-header"')
  );
}
