// The JSON Schema of `mcp.requests.json`. The file is checked with it, and docs/mcp.requests.schema.json is its copy for editors.

import type { JsonSchema } from '../../schema/document/plain-json.js';

const definitions: JsonSchema = {
  type: 'object',
  maxProperties: 1000,
  additionalProperties: { type: 'object' },
};

const expectation: JsonSchema = {
  description: 'The expectations of the result. Without any, the request must succeed.',
  type: 'object',
  properties: {
    equal: {
      description:
        'The value: the structured content of a tool, or the text. "***" stands for anything, such as a secret that was removed.',
    },
    ignore: {
      description:
        'Fields that are not compared with "equal": names, or ends of paths such as "order.total".',
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 200 },
      maxItems: 100,
    },
    contains: {
      description: 'A string that is in the text, or fields and items that are in the value.',
    },
    matches: { description: 'A JSON Schema of the value.', type: 'object' },
    fails: {
      description:
        'The request must fail: in any way (true), or with this code or these words in its message.',
      anyOf: [{ const: true }, { type: 'string', minLength: 1, maxLength: 1000 }],
    },
  },
  additionalProperties: false,
};

const request: JsonSchema = {
  type: 'object',
  properties: {
    name: {
      description: 'The name, for people and for --only.',
      type: 'string',
      minLength: 1,
      maxLength: 200,
    },
    tool: { description: 'The name of the tool to call.', type: 'string', minLength: 1, maxLength: 500 },
    resource: {
      description: 'The URI of the resource to read.',
      type: 'string',
      minLength: 1,
      maxLength: 10000,
    },
    prompt: { description: 'The name of the prompt to get.', type: 'string', minLength: 1, maxLength: 500 },
    arguments: { description: 'The arguments of the tool or the prompt.', type: 'object' },
    answers: {
      description:
        'The answers to the questions of the server: fields by name, or as "key.name" for the question with that key; or "decline" or "cancel" for all questions.',
      anyOf: [{ type: 'object' }, { enum: ['decline', 'cancel'] }],
    },
    expect: expectation,
  },
  required: ['name'],
  additionalProperties: false,
};

export const REQUESTS_SCHEMA: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Requests of a project, which fullmcp test runs',
  type: 'object',
  properties: {
    $schema: { type: 'string', maxLength: 1000 },
    version: { description: 'The version of this format.', const: 1 },
    target: {
      description:
        'The server to ask if `fullmcp test` has no target: a file below the folder of this file, such as "src/server.ts".',
      type: 'string',
      minLength: 1,
      maxLength: 500,
    },
    env: {
      description: 'The environment variables that values may use: API_KEY for the value "$\u007bAPI_KEY}".',
      type: 'array',
      items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' },
      maxItems: 100,
    },
    requests: { type: 'array', items: request, maxItems: 1000 },
    definitions: {
      description:
        'The definitions that the requests use, as they were. `fullmcp test` fails if one has changed, and `fullmcp test --update` writes them.',
      type: 'object',
      properties: { tools: definitions, resources: definitions, prompts: definitions },
      additionalProperties: false,
    },
  },
  required: ['version', 'requests'],
  additionalProperties: false,
};
