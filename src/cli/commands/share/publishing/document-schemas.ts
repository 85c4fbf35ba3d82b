// Parts of schemas that the documents of servers share.

import type { JsonObject } from '../../../../jsonrpc/message.js';

export const STRING: JsonObject = { type: 'string' };
export const STRINGS: JsonObject = { type: 'array', items: STRING };
export const BOOLEAN: JsonObject = { type: 'boolean' };

/** An object that has these fields, and maybe others. */
export function object(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, required: [...required] };
}

/** An object that has these fields, and no others. */
export function closed(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { ...object(properties, required), additionalProperties: false };
}

export function arrayOf(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

export function mapOf(values: JsonObject): JsonObject {
  return { type: 'object', additionalProperties: values };
}

/** A name such as `com.example/weather`. */
export const SERVER_NAME: JsonObject = {
  type: 'string',
  minLength: 3,
  maxLength: 200,
  pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$',
};
export const SHORT: JsonObject = { type: 'string', minLength: 1, maxLength: 100 };
export const VERSION: JsonObject = { type: 'string', minLength: 1, maxLength: 255 };

export const REPOSITORY: JsonObject = object({ url: STRING, source: STRING, subfolder: STRING, id: STRING }, [
  'url',
  'source',
]);

export const ICONS: JsonObject = arrayOf(
  object(
    {
      src: { type: 'string', maxLength: 255 },
      mimeType: { enum: ['image/png', 'image/jpeg', 'image/jpg', 'image/svg+xml', 'image/webp'] },
      sizes: arrayOf({ type: 'string', pattern: '^(\\d+x\\d+|any)$' }),
      theme: { enum: ['light', 'dark'] },
    },
    ['src'],
  ),
);

const input: JsonObject = {
  description: STRING,
  value: STRING,
  default: STRING,
  placeholder: STRING,
  choices: STRINGS,
  format: { enum: ['string', 'number', 'boolean', 'filepath'] },
  isRequired: BOOLEAN,
  isSecret: BOOLEAN,
};

/** A header, a variable or an argument that a user gives. */
export const INPUT: JsonObject = object({ ...input, variables: mapOf(object(input)) });
export const NAMED_INPUT: JsonObject = object({ ...input, name: STRING, variables: mapOf(object(input)) }, [
  'name',
]);
