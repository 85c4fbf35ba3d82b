// Puts secrets that the user gives back into parameters of a tape.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { REMOVED } from '../../testing/recording/secrets.js';

/** A copy in which each removed value of a field with one of these names is there again. */
export function withSecrets(params: JsonObject, secrets: ReadonlyMap<string, string>): JsonObject {
  return secrets.size === 0 ? params : (fill(params, '', secrets) as JsonObject);
}

function fill(value: unknown, name: string, secrets: ReadonlyMap<string, string>): unknown {
  if (value === REMOVED) return secrets.get(name) ?? value;
  if (Array.isArray(value)) return value.map((item) => fill(item, name, secrets));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [field, fill(inner, field, secrets)]),
  );
}
