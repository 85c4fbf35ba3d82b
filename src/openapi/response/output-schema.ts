// The schema of an operation's result, and the check of replies against it.

import { isObject } from '../../jsonrpc/message.js';
import type { CompiledSchema } from '../../schema/check/compiled-schema.js';
import { compileSchema } from '../../schema/compile.js';
import type { JsonSchema } from '../../schema/document/plain-json.js';
import { explain } from '../../schema/explain/explain.js';
import type { StandardJsonSchema } from '../../schema/standard.js';
import { ToolError } from '../../server/results/tool-error.js';
import type { ReadOperation } from '../document/operations.js';
import type { DocumentReferences, Json } from '../document/references.js';
import { essenceOf, isJsonType } from '../request/body.js';
import type { Schemas } from '../schema/schemas.js';
import { isBodyless } from './read-reply.js';

/**
 * The characters of an output schema, and of all output schemas of a document together, that clients get by default. The official client
 * compiles every output schema while it lists the tools, at about a second of CPU time for 200,000 characters.
 */
const MAX_CHARS = 4096;
const MAX_CHARS_IN_ALL = 200_000;

/**
 * The output schemas that are small enough for the list of tools, by operation. If all of them together are too large, only smaller ones
 * are kept, so that the order of the operations has no effect.
 */
export function smallOutputs<T>(schemas: ReadonlyMap<T, JsonSchema>): ReadonlyMap<T, JsonSchema> {
  const sized = [...schemas].map(([key, json]) => ({ key, json, chars: JSON.stringify(json).length }));
  for (let limit = MAX_CHARS; limit >= 1; limit /= 2) {
    const kept = sized.filter(({ chars }) => chars <= limit);
    if (kept.reduce((sum, { chars }) => sum + chars, 0) <= MAX_CHARS_IN_ALL)
      return new Map(kept.map(({ key, json }) => [key, json]));
  }
  return new Map();
}

/** The media types of the successful replies of an operation, for the header `Accept`. */
export function acceptOf(operation: ReadOperation, references: DocumentReferences): string {
  const types = successes(operation, references).flatMap(({ response: { content } }) =>
    isObject(content) ? Object.keys(content) : [],
  );
  const json = types.find((type) => isJsonType(essenceOf(type)));
  const first = json ?? types.find((type) => !/[^\x20-\x7e]/.test(type)) ?? 'application/json';
  return first === '*/*' ? first : `${essenceOf(first)}, */*;q=0.5`;
}

/**
 * The schema of the result: that of all successful replies. Undefined if one of them has no body, no schema or is not JSON, because every
 * result of a tool with an output schema must fit it.
 */
export function outputSchema(
  operation: ReadOperation,
  { references, schemas }: { readonly references: DocumentReferences; readonly schemas: Schemas },
): JsonSchema | undefined {
  const all = successes(operation, references).map(({ status, response }) =>
    isBodyless(Number(status), operation.method) ? undefined : jsonSchemaOf(response['content'], references),
  );
  if (all.length === 0 || all.includes(undefined) || isConditional(operation)) return undefined;
  const distinct = new Map(all.map((schema) => [schemas.resolve(schema), schema]));
  const [target] = distinct.keys();
  if (distinct.size === 1 && isObject(target) && Object.keys(target).length === 0) return undefined;
  return schemas.build('output', (convert) => {
    if (distinct.size > 1) return { anyOf: [...distinct.values()].map(convert) };
    const schema = convert(target);
    if (typeof schema === 'boolean') return {};
    return schema['type'] === undefined && isObject(target) && isObjectUnion(target, schemas)
      ? { ...schema, type: 'object' }
      : schema;
  });
}

/** Whether the arguments can make the API reply with 304, which has no body. */
function isConditional({ parameters }: ReadOperation): boolean {
  return parameters.some(
    ({ place, name }) =>
      place === 'header' && ['if-none-match', 'if-modified-since'].includes(name.toLowerCase()),
  );
}

interface Success {
  readonly status: string;
  readonly response: Json;
}

function successes({ raw }: ReadOperation, references: DocumentReferences): readonly Success[] {
  const responses = isObject(raw['responses']) ? raw['responses'] : {};
  return Object.entries(responses)
    .filter(([status]) => /^2(\d\d|XX)$/i.test(status))
    .map(([status, response]) => ({
      status,
      response: references.object(response, `the response ${status}`),
    }));
}

function jsonSchemaOf(content: unknown, references: DocumentReferences): unknown {
  if (!isObject(content)) return undefined;
  const types = Object.keys(content);
  const json = types.find((type) => isJsonType(essenceOf(type)));
  return json === undefined ? undefined : references.object(content[json], 'a response')['schema'];
}

/** Older clients need `type: "object"` at the root, which a combination of objects lacks. */
function isObjectUnion({ allOf, properties }: Json, schemas: Schemas): boolean {
  if (isObject(properties)) return true;
  return (
    Array.isArray(allOf) &&
    allOf.some((part) => (schemas.resolve(part) as Json | null)?.['type'] === 'object')
  );
}

/** The output of a tool: its schema, and the value of a reply without a body. */
export interface CheckedOutput {
  /** The schema for `output` of a tool. A reply that does not fit is an error that the model can read. */
  readonly schema: StandardJsonSchema<unknown>;
  /** The value of a reply without a body. Throws a `ToolError` if no such value fits the schema. */
  readonly emptyValue: (status: number) => unknown;
}

/** The check of an operation's replies. */
export function checkedOutput(json: JsonSchema, where: string): CheckedOutput {
  let compiled: CompiledSchema | undefined;
  // Compiled with the first call: few of the operations of a large document are ever called.
  const compile = (): CompiledSchema => (compiled ??= compileSchema(json, { io: 'output' }));
  function validate(value: unknown): { readonly value: unknown } {
    const result = compile().validate(value);
    if ('then' in result || result.ok) return { value };
    throw new ToolError(
      `${where} succeeded, but its reply does not fit the schema in the API's document. ${explain(result.issues, compile(), value)}`,
    );
  }
  function emptyValue(status: number): unknown {
    for (const value of [{}, [], null]) {
      const result = compile().validate(value);
      if (!('then' in result) && result.ok) return value;
    }
    throw new ToolError(
      `${where} succeeded with status ${status} and has no content, but the API's document describes JSON for it. Do not repeat it for that reason.`,
    );
  }
  return {
    emptyValue,
    schema: {
      '~standard': {
        version: 1,
        vendor: 'openapi',
        validate,
        jsonSchema: { input: () => json, output: () => json },
      },
    },
  };
}
