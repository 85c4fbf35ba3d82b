import { BoundedMap } from '../../async/bounded-map.js';
import { hasEnded, withSignalOf } from '../../async/lifetime.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import {
  checkParamHeaders,
  findParamHeaders,
  type ParamHeader,
} from '../../protocol/encoding/param-headers.js';
import { boundedKey } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';

// Arguments that are repeated in headers. The request to the server has headers that the proxy writes itself, so only the proxy can see
// that those of the caller say something else. Spec 2026-07-28, Streamable HTTP, Custom Headers from Tool Parameters.

const MAX_TOOLS = 10_000;
const MAX_PAGES = 100;
/** A tool that is not listed is looked for again after this time. */
const LOOK_AGAIN_MS = 10_000;

/** Knows which arguments of which tools are repeated in headers, and compares them. */
export class ParamChecks {
  /** By the name of the tool. The array of most tools is empty. */
  readonly #known = new BoundedMap<string, readonly ParamHeader[]>(MAX_TOOLS);
  /** Resolves with false if the call that looks has ended before. */
  #looking: Promise<boolean> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** Forgets all tools: they may have changed. */
  forget(): void {
    this.#known.clear();
    this.#lookedAt = Number.NEGATIVE_INFINITY;
  }

  /** Learns from a result of `tools/list`. */
  learn({ tools }: Outcome): void {
    if (!Array.isArray(tools)) return;
    for (const tool of tools) {
      if (!isObject(tool) || typeof tool['name'] !== 'string') continue;
      const { inputSchema } = tool;
      this.#known.set(
        boundedKey(tool['name']),
        isObject(inputSchema) ? findParamHeaders(inputSchema).paramHeaders : [],
      );
    }
  }

  /** Throws if the headers of a call do not say what its arguments say. `list` lists the tools, page by page. */
  async check(call: Call, list: (call: Call) => Promise<Outcome>): Promise<void> {
    const mirrored = call.http?.mirrored;
    const { name: called, arguments: args } = call.params;
    if (mirrored === undefined || typeof called !== 'string') return;
    const name = boundedKey(called);
    if (!this.#known.has(name)) await this.#lookOnce(call, list);
    const mismatch = checkParamHeaders(this.#known.get(name) ?? [], isObject(args) ? args : {}, mirrored);
    if (mismatch !== undefined) throw new McpError('header_mismatch', `Header mismatch: ${mismatch}`);
  }

  /** Looks for tools, or waits for a call that does so at the moment. If that call ends before it knows them, the next one looks. */
  async #lookOnce(call: Call, list: (call: Call) => Promise<Outcome>): Promise<void> {
    while (this.#looking !== undefined) {
      const isDone = await this.#looking;
      if (isDone || hasEnded(call)) return;
    }
    if (performance.now() - this.#lookedAt <= LOOK_AGAIN_MS) return;
    const looking = this.#look(call, list).catch(withoutList);
    this.#looking = looking
      .then(() => true)
      .catch((error) => {
        if (!hasEnded(call)) throw error;
        this.#lookedAt = Number.NEGATIVE_INFINITY;
        return false;
      })
      .finally(() => {
        this.#looking = undefined;
      });
    this.#looking.catch(() => undefined);
    await looking;
  }

  async #look(call: Call, list: (call: Call) => Promise<Outcome>): Promise<void> {
    this.#lookedAt = performance.now();
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const params: JsonObject = cursor === undefined ? {} : { cursor };
      const listing = { ...call, method: 'tools/list', params, notify: () => undefined };
      const outcome = await list(withSignalOf(call, listing));
      this.learn(outcome);
      cursor = outcome['nextCursor'];
      if (typeof cursor !== 'string') return;
    }
  }
}

/** A server without a list wants no headers. */
function withoutList(error: unknown): void {
  if (!McpError.is(error) || error.code !== 'method_not_found') throw error;
}
