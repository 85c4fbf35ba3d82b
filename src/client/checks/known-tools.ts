import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { KEEPS_KEYS } from '../../protocol/tables/meta-keys.js';
import type { OutputCheck } from './output-check.js';

// The facts about tools that a client learns from their lists.

interface KnownTool {
  /** Whether calling the tool twice has the same effect as calling it once. */
  readonly isRepeatable: boolean;
  /** Whether the tool changes nothing. */
  readonly isReadOnly: boolean;
  /** Whether a call with an idempotency key runs once, however often it is sent. */
  readonly keepsKeys: boolean;
  readonly outputSchema: JsonObject | undefined;
  check?: Promise<OutputCheck | undefined>;
}

const MAX_TOOLS = 10_000;

/** The facts about the tools that a client has listed: which may be called twice, and the schemas of their results. */
export class KnownTools {
  readonly #tools = new Map<string, KnownTool>();
  readonly #problem: (message: string, cause?: unknown) => void;

  constructor(problem: (message: string, cause?: unknown) => void) {
    this.#problem = problem;
  }

  learn(tools: unknown): void {
    if (!Array.isArray(tools)) return;
    for (const tool of tools as ListedTool[]) {
      if (!isObject(tool) || typeof tool.name !== 'string') continue;
      const { outputSchema, annotations, _meta } = tool;
      if (this.#tools.get(tool.name)?.outputSchema === outputSchema && outputSchema !== undefined) continue;
      if (this.#tools.size >= MAX_TOOLS && !this.#tools.has(tool.name)) return;
      const { readOnlyHint, idempotentHint } = isObject(annotations) ? annotations : {};
      this.#tools.set(tool.name, {
        isRepeatable: readOnlyHint === true || idempotentHint === true,
        isReadOnly: readOnlyHint === true,
        keepsKeys: isObject(_meta) && isObject(_meta[KEEPS_KEYS]),
        outputSchema: isObject(outputSchema) ? outputSchema : undefined,
      });
    }
  }

  isRepeatable(name: unknown): boolean {
    return this.#tools.get(name as string)?.isRepeatable === true;
  }

  isReadOnly(name: unknown): boolean {
    return this.#tools.get(name as string)?.isReadOnly === true;
  }

  keepsKeys(name: unknown): boolean {
    return this.#tools.get(name as string)?.keepsKeys === true;
  }

  /**
   * Rejects if a result does not fit the tool's output schema; a failed result is not checked. Returns undefined if there is
   * nothing to check, as for most tools.
   */
  check(name: string | undefined, outcome: JsonObject): Promise<void> | undefined {
    const tool = name === undefined ? undefined : this.#tools.get(name);
    if (name === undefined || tool?.outputSchema === undefined || outcome['isError'] === true)
      return undefined;
    tool.check ??= this.#compile(name, tool.outputSchema);
    return this.#compare(name, outcome, tool.check);
  }

  async #compare(name: string, outcome: JsonObject, check: NonNullable<KnownTool['check']>): Promise<void> {
    const problem = (await check)?.(outcome['structuredContent']);
    if (problem === undefined) return;
    throw new McpError(
      'bad_response',
      `The result of the tool "${name}" does not fit its output schema. ${problem}`,
      {
        data: { tool: name, structuredContent: outcome['structuredContent'] },
      },
    );
  }

  async #compile(name: string, schema: JsonObject): Promise<OutputCheck | undefined> {
    // The validator is loaded only for a tool with an output schema.
    const { outputCheck } = await import('./output-check.js');
    try {
      return outputCheck(schema);
    } catch (error) {
      this.#problem(
        `The results of the tool "${name}" are not checked: its output schema cannot be read`,
        error,
      );
      return undefined;
    }
  }
}
