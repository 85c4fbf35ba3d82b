// The tools of a server whose values have handles, as clients list them. Loaded with the first list.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { type Outcome, withPrint } from '../../protocol/call.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { CALL_TOOL } from '../../protocol/model/search/search-tools.js';
import { RETURNS_HANDLE } from '../../protocol/tables/meta-keys.js';
import { type Shape, shapeOf } from '../../schema/read/shape.js';

/** A string that stands for a value. */
const handleSchema = { type: 'string', pattern: '^handle:' } as const;

/** The output schema of a tool that returns a handle. */
const outputSchema: JsonObject = {
  type: 'object',
  properties: {
    handle: {
      ...handleSchema,
      description:
        'Stands for the value, or with a JSON Pointer after it for a part, in arguments of other tools',
    },
    summary: { type: 'string' },
    preview: { type: 'string', description: 'The beginning of the JSON of the value' },
    expiresAt: { type: 'string', format: 'date-time' },
  },
  required: ['handle', 'summary', 'preview', 'expiresAt'],
};

// A page and a tool are made once, and then listed to all callers.
const pages = new WeakMap<Outcome, Outcome>();
const tools = new WeakMap<ListedTool, ListedTool>();

/** A page of the list of tools, with what they take and return by reference. */
export function withHandles(page: Outcome): Outcome {
  const known = pages.get(page);
  if (known !== undefined) return known;
  const changed = { ...page, tools: (page['tools'] as readonly ListedTool[]).map(listWithHandles) };
  // Another page is made for each request.
  if (!Object.isFrozen(page)) return changed;
  const printed = withPrint(changed);
  pages.set(page, printed);
  return printed;
}

/** A tool as it is listed by a server whose tools return handles. */
export function listWithHandles(tool: ListedTool): ListedTool {
  // Its arguments are those of another tool.
  if (tool.name === CALL_TOOL) return tool;
  const known = tools.get(tool) ?? returning(taking(tool));
  tools.set(tool, known);
  return known;
}

function returning(tool: ListedTool): ListedTool {
  const { _meta, outputSchema: value } = tool;
  if (_meta?.[RETURNS_HANDLE] === undefined) return tool;
  return {
    ...tool,
    outputSchema,
    _meta: { ..._meta, [RETURNS_HANDLE]: value === undefined ? {} : { value } },
  };
}

/** Lets the arguments be handles that are too large to be written: arrays and objects. Strings can be handles anyway. */
function taking(tool: ListedTool): ListedTool {
  const { inputSchema } = tool;
  const { properties } = inputSchema;
  if (!isObject(properties)) return tool;
  const changed = Object.entries(properties).map(
    ([name, schema]) =>
      [name, isLarge(schema, inputSchema) ? orHandle(schema as JsonObject) : schema] as const,
  );
  return { ...tool, inputSchema: { ...inputSchema, properties: Object.fromEntries(changed) } };
}

const LARGE: readonly Shape['kind'][] = ['array', 'tuple', 'object', 'map'];

/** Whether a value may be an array or an object, and cannot be a string. */
function isLarge(schema: unknown, root: JsonObject): boolean {
  const shape = shapeOf(schema, root);
  if (shape.kind !== 'union') return LARGE.includes(shape.kind);
  const kinds = shape.branches.map((branch) => shapeOf(branch, root).kind);
  return kinds.some((kind) => LARGE.includes(kind)) && !kinds.includes('string') && !kinds.includes('any');
}

const COMBINING = [
  '$ref',
  '$dynamicRef',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'pattern',
  'format',
];

// Keywords of arrays and objects say nothing about strings, so one more type is enough where nothing else narrows the value.
function orHandle(schema: JsonObject): JsonObject {
  const { type, description } = schema;
  const isPlain = type !== undefined && !COMBINING.some((keyword) => schema[keyword] !== undefined);
  if (isPlain) return { ...schema, type: [type, handleSchema.type].flat(), pattern: handleSchema.pattern };
  return { ...(description !== undefined && { description }), anyOf: [schema, handleSchema] };
}
