import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { Outcome } from '../../../protocol/call.js';
import { encodeHeaderValue } from '../../../protocol/encoding/header-value.js';
import type { ParamHeader } from '../../../protocol/encoding/param-headers.js';
import { shorten } from '../../../protocol/encoding/shorten.js';

type Mirroring = typeof import('../../../protocol/encoding/param-headers.js');

const MAX_TOOLS = 10_000;

/** Which parameters of which tools go into headers, as learnt from the lists that came by. */
export class ToolHeaders {
  readonly #paramHeaders = new Map<string, readonly ParamHeader[]>();
  readonly #leftOut = new Set<string>();
  readonly #problem: (message: string) => void;
  /** Few servers want headers, and what that takes is loaded for the first that does. */
  #mirroring: Mirroring | undefined;

  constructor(problem: (message: string) => void) {
    this.#problem = problem;
  }

  /**
   * Learns from a result of `tools/list`. Spec 2026-07-28, Streamable HTTP, Custom Headers: a tool whose annotations are
   * invalid is left out, so that nobody calls it.
   */
  async learn(outcome: Outcome): Promise<Outcome> {
    const { tools } = outcome;
    if (!Array.isArray(tools)) return outcome;
    if (tools.some(wantsHeaders))
      this.#mirroring ??= await import('../../../protocol/encoding/param-headers.js');
    const usable = tools.filter((tool) => this.#learnTool(tool));
    return usable.length === tools.length ? outcome : { ...outcome, tools: usable };
  }

  #learnTool(tool: unknown): boolean {
    if (!isObject(tool)) return true;
    const { name, inputSchema } = tool;
    if (typeof name !== 'string' || !isObject(inputSchema)) return true;
    this.#paramHeaders.delete(name);
    if (this.#mirroring === undefined || !wantsHeaders(tool)) return true;
    const { paramHeaders, problems } = this.#mirroring.findParamHeaders(inputSchema);
    if (problems.length > 0) {
      this.#report(shorten(name, 128), shorten(problems.join(' '), 1000));
      return false;
    }
    const [oldest] = this.#paramHeaders.size >= MAX_TOOLS ? this.#paramHeaders.keys() : [];
    if (oldest !== undefined) this.#paramHeaders.delete(oldest);
    this.#paramHeaders.set(name, paramHeaders);
    return true;
  }

  /** Said once of each tool, however often it is listed. */
  #report(name: string, why: string): void {
    if (this.#leftOut.has(name) || this.#leftOut.size >= MAX_TOOLS) return;
    this.#leftOut.add(name);
    this.#problem(`Tool ${JSON.stringify(name)} was left out: ${why}`);
  }

  /** The headers that a call of this tool must carry. */
  headers({ name, arguments: args }: JsonObject): Record<string, string> | undefined {
    const paramHeaders = this.#paramHeaders.get(name as string);
    if (paramHeaders === undefined || this.#mirroring === undefined) return undefined;
    const headers: Record<string, string> = {};
    for (const paramHeader of paramHeaders) {
      const value = this.#mirroring.paramHeaderValue(paramHeader, args);
      // The server refuses a value of another type than the schema's.
      if (value !== undefined && typeof value !== 'object') {
        headers[`Mcp-Param-${paramHeader.name}`] = encodeHeaderValue(value as string | number | boolean);
      }
    }
    return headers;
  }
}

function wantsHeaders(tool: unknown): boolean {
  return (
    isObject(tool) &&
    isObject(tool['inputSchema']) &&
    JSON.stringify(tool['inputSchema']).includes('"x-mcp-header"')
  );
}
