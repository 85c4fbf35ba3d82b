import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { KEEPS_KEYS } from '../../protocol/tables/meta-keys.js';
import type { OutputCheck } from './output-check.js';

interface KnownTool {
  readonly repeatable: boolean;
  /** Whether a call with an idempotency key runs once, however often it is sent. */
  readonly keepsKeys: boolean;
  readonly outputSchema: JsonObject | undefined;
  check?: Promise<OutputCheck | undefined>;
}

const MAX_TOOLS = 10_000;

/** What lists told about tools: which may be called twice, and what their results must look like. */
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
        repeatable: readOnlyHint === true || idempotentHint === true,
        keepsKeys: isObject(_meta) && isObject(_meta[KEEPS_KEYS]),
        outputSchema: isObject(outputSchema) ? outputSchema : undefined,
      });
    }
  }

  isRepeatable(name: unknown): boolean {
    return this.#tools.get(name as string)?.repeatable === true;
  }

  keepsKeys(name: unknown): boolean {
    return this.#tools.get(name as string)?.keepsKeys === true;
  }

  /**
   * Rejects where a result is not what the tool's output schema promises. A failure promises nothing. Undefined where there is
   * nothing to check, which is most often so.
   */
  check(name: string, outcome: JsonObject): Promise<void> | undefined {
    const tool = this.#tools.get(name);
    if (tool?.outputSchema === undefined || outcome['isError'] === true) return undefined;
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
    // Programs that call no tool with an output schema never load the validator.
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
