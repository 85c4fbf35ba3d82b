// Makes a tool of an operation.

import { shorten } from '../protocol/encoding/shorten.js';
import type { JsonSchema } from '../schema/document/plain-json.js';
import type { Described } from '../server/define/definition.js';
import { type Tool, type ToolAnnotations, tool } from '../server/define/tool.js';
import { ToolError } from '../server/results/tool-error.js';
import { nameOf, type ReadOperation } from './document/operations.js';
import type { DocumentReferences } from './document/references.js';
import { type Api, type Callable, callOperation } from './exchange.js';
import { inputSchema } from './request/arguments.js';
import { valuesOf } from './request/build-request.js';
import { checkedOutput, outputSchema, smallOutputs } from './response/output-schema.js';
import { type Trimming, toResult } from './response/read-reply.js';
import type { Schemas } from './schema/schemas.js';

/** The parts that the definitions of one document share. */
export interface Workshop {
  readonly api: Api;
  readonly references: DocumentReferences;
  readonly schemas: Schemas;
}

const MAX_TITLE = 100;

/** An operation that becomes a tool. */
export interface ToolPlan {
  readonly callable: Callable;
  readonly trimming: Trimming;
}

/** The output schemas of tools; a tool without one passes every reply on. */
export function outputsOf(plans: readonly ToolPlan[], workshop: Workshop): ReadonlyMap<ToolPlan, JsonSchema> {
  const { output } = workshop.api.settings;
  const schemas = new Map<ToolPlan, JsonSchema>();
  for (const plan of output === 'pass' ? [] : plans) {
    const { pick, maxChars } = plan.trimming;
    const isTrimmed = pick.size > 0 || maxChars !== undefined;
    const json = isTrimmed ? undefined : outputSchema(plan.callable.operation, workshop);
    if (json !== undefined) schemas.set(plan, json);
  }
  return output === 'check' ? schemas : smallOutputs(schemas);
}

/** Makes the tool that calls an operation. */
export function makeTool(
  { callable, trimming }: ToolPlan,
  json: JsonSchema | undefined,
  { api, schemas }: Workshop,
): Tool {
  const { operation, request } = callable;
  const where = nameOf(operation.method, operation.path);
  const output = json === undefined ? undefined : checkedOutput(json, where);
  return tool({
    ...describe(operation, api.settings),
    annotations: annotationsOf(operation),
    input: inputSchema(request.args, schemas),
    ...(output !== undefined && { output: output.schema }),
    run: async (input, ctx) => {
      const reply = await callOperation(callable, valuesOf(input), { ctx, api });
      const result = toResult(reply, trimming, where);
      if (output !== undefined && reply.kind === 'empty')
        return { ...result, structuredContent: output.emptyValue(reply.status) };
      if (output !== undefined && reply.kind !== 'json')
        throw new ToolError(
          `${where} succeeded with status ${reply.status}, but its reply is not the JSON that the API's document describes.`,
        );
      // Without an output schema, clients expect structured content only if it is an object.
      const isObject =
        typeof result.structuredContent === 'object' && !Array.isArray(result.structuredContent);
      return output !== undefined || (isObject && result.structuredContent !== null)
        ? result
        : { content: result.content };
    },
  }) as Tool;
}

/** The title, the description and the tags of an operation. */
export function describe(
  { summary, description, tags, deprecated }: ReadOperation,
  { maxDescriptionChars, deprecated: handling }: Api['settings'],
): Described {
  const text = [deprecated && handling === 'mark' ? 'Deprecated.' : '', description ?? summary ?? '']
    .join(' ')
    .trim();
  return {
    ...(summary !== undefined && { title: shorten(summary, MAX_TITLE) }),
    ...(text !== '' && { description: shorten(text, maxDescriptionChars) }),
    ...(tags.length > 0 && { tags }),
  };
}

/** RFC 9110, 9.2: what each method promises. A POST promises nothing. */
function annotationsOf({ method }: ReadOperation): ToolAnnotations {
  if (['get', 'head', 'options', 'trace', 'query'].includes(method))
    return { readOnly: true, destructive: false, openWorld: true };
  const isIdempotent = method === 'put' || method === 'delete';
  return {
    readOnly: false,
    ...(method !== 'post' && { destructive: true }),
    ...(isIdempotent && { idempotent: true }),
    openWorld: true,
  };
}
