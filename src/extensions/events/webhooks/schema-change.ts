// Whether the schemas of a type have changed so that a subscriber cannot read its events any more.

import { isObject } from '../../../jsonrpc/message.js';
import { canonical, digestOf } from '../../../protocol/canonical.js';
import { encodeBase64Url } from '../../../protocol/encoding/base64.js';
import type { Store } from '../../../state/store.js';
import type { WebhookType } from './types.js';

/** The feature of a type that has changed. */
export type ChangedSchema = 'inputSchema' | 'payloadSchema';

type Schemas = Pick<WebhookType, ChangedSchema>;

/** Keeps the schemas of a type, and returns their digest. */
export async function schemasOf(store: Store, type: WebhookType): Promise<string> {
  const { digest, inputSchema, payloadSchema } = type;
  const key = keyOf(type, digest);
  if ((await store.get(key)) === undefined)
    await store.write([{ do: 'put', key, value: { inputSchema, payloadSchema } }]);
  return digest;
}

/** The schema that has changed since a digest was made, if subscribers of that time cannot continue. */
export async function breakingChange(
  store: Store,
  type: WebhookType,
  digest: string,
): Promise<ChangedSchema | undefined> {
  if (digest === type.digest) return undefined;
  const before = (await store.get(keyOf(type, digest)))?.value as Schemas | undefined;
  if (before === undefined) return undefined;
  if (!isAdditive(before.inputSchema, type.inputSchema, 'input')) return 'inputSchema';
  return isAdditive(before.payloadSchema, type.payloadSchema, 'payload') ? undefined : 'payloadSchema';
}

/** The digest of the schemas of a type. */
export async function digestOfSchemas({ inputSchema, payloadSchema }: Schemas): Promise<string> {
  return encodeBase64Url((await digestOf(canonical([inputSchema, payloadSchema]))).subarray(0, 12));
}

function keyOf({ history }: WebhookType, digest: string): string {
  return `event-schemas:${history.group}:${digest}`;
}

/** Whether fields were only added: none was removed, retyped, or narrowed, and no argument has become required. */
function isAdditive(before: unknown, after: unknown, side: 'input' | 'payload'): boolean {
  if (canonical(before) === canonical(after)) return true;
  if (!isObject(before) || !isObject(after)) return false;
  if (canonical(before['type']) !== canonical(after['type'])) return false;
  if (!keepsValues(before['enum'], after['enum'])) return false;
  const [old, now] = [namesOf(before['required']), namesOf(after['required'])];
  // A subscriber sends the arguments that were required, and reads the fields that were.
  if (side === 'input' ? now.some((name) => !old.includes(name)) : old.some((name) => !now.includes(name)))
    return false;
  const [fields, others] = [before['properties'], after['properties']];
  if (isObject(fields)) {
    if (!isObject(others)) return false;
    for (const [name, field] of Object.entries(fields))
      if (!Object.hasOwn(others, name) || !isAdditive(field, others[name], side)) return false;
  }
  return before['items'] === undefined || isAdditive(before['items'], after['items'], side);
}

function keepsValues(before: unknown, after: unknown): boolean {
  if (!Array.isArray(after)) return true;
  if (!Array.isArray(before)) return false;
  const values = new Set(after.map(canonical));
  return before.every((value) => values.has(canonical(value)));
}

function namesOf(required: unknown): readonly unknown[] {
  return Array.isArray(required) ? required : [];
}
