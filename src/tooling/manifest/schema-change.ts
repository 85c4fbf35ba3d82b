// Differences between two schemas, and whether they break programs that were written for the first one.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { canonical } from '../../protocol/canonical.js';
import type { JsonSchema } from '../../schema/document/plain-json.js';
import { requiredOf, resolveSchema } from '../../schema/read/resolve.js';
import { compareLimits, type Flow, type SchemaPlace } from './schema-limits.js';

export interface SchemaChange {
  /** The place in the value, such as `items[].price`; empty for the whole value. */
  readonly path: string;
  readonly says: string;
  readonly isBreaking: boolean;
}

const MAX_CHANGES = 500;
const MAX_DEPTH = 24;

/** All differences between two schemas. Input breaks if fewer values are allowed than before, output if more are. */
export function compareSchemas(before: JsonObject, after: JsonObject, flow: Flow): readonly SchemaChange[] {
  const changes: SchemaChange[] = [];
  const breaking = flow === 'input' ? 'fewer' : 'more';
  compareNodes(before, after, {
    path: '',
    flow,
    depth: 0,
    roots: [before, after],
    sameDefinitions: canonical(definitionsOf(before)) === canonical(definitionsOf(after)),
    seen: new Set(),
    add: (path, effect, says) => {
      if (changes.length < MAX_CHANGES)
        changes.push({ path, says, isBreaking: effect === breaking || effect === 'other' });
    },
  });
  return changes;
}

function compareNodes(one: unknown, other: unknown, place: SchemaPlace): void {
  const { roots, path, add, depth, sameDefinitions, seen } = place;
  if (sameDefinitions && canonical(one ?? null) === canonical(other ?? null)) return;
  const [resolved, resolvedNow] = [resolveSchema(one, roots[0]), resolveSchema(other, roots[1])];
  if (resolved.references.size > 0 && resolvedNow.references.size > 0) {
    const pair = canonical([one, other]);
    if (seen.has(pair)) return;
    seen.add(pair);
  }
  const [before, after] = [resolved.schema, resolvedNow.schema];
  if (depth > MAX_DEPTH) return add(path, 'other', 'changed, too deep to say how');
  compareLimits(before, after, place);
  compareFields(before, after, place);
  compareItems(before, after, place);
  for (const keyword of ['anyOf', 'oneOf']) compareUnions(before[keyword], after[keyword], place);
}

function definitionsOf({ $defs = null, definitions = null }: JsonObject): unknown {
  return [$defs, definitions];
}

function compareFields(before: JsonSchema, after: JsonSchema, place: SchemaPlace): void {
  const { add, path, flow } = place;
  const what = flow === 'input' ? 'argument' : 'field';
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  const [oldRequired, nowRequired] = [requiredOf(before), requiredOf(after)];
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const at = path === '' ? name : `${path}.${name}`;
    const [was, is] = [oldRequired.has(name), nowRequired.has(name)];
    // A field that disappears breaks both: callers that pass it, and readers that use it.
    if (!now.has(name)) add(at, 'other', `this ${what} was removed`);
    else if (!old.has(name))
      add(at, is ? 'fewer' : 'same', is ? `this new ${what} is required` : `this optional ${what} is new`);
    else {
      if (is && !was) add(at, 'fewer', 'it is required now');
      if (was && !is) add(at, 'more', 'it is optional now');
      compareNodes(old.get(name), now.get(name), { ...place, path: at, depth: place.depth + 1 });
    }
  }
  const [oldRest, nowRest] = [before['additionalProperties'], after['additionalProperties']];
  if (oldRest !== false && nowRest === false) add(path, 'fewer', `other ${what}s are rejected now`);
  else if (oldRest === false && nowRest !== false) add(path, 'same', `other ${what}s are accepted now`);
  else if (isObject(oldRest) && isObject(nowRest))
    compareNodes(oldRest, nowRest, { ...place, path: `${path}.*`, depth: place.depth + 1 });
}

function compareItems(before: JsonSchema, after: JsonSchema, place: SchemaPlace): void {
  if (before['items'] === undefined && after['items'] === undefined) return;
  compareNodes(before['items'], after['items'], {
    ...place,
    path: `${place.path}[]`,
    depth: place.depth + 1,
  });
}

function compareUnions(before: unknown, after: unknown, place: SchemaPlace): void {
  if (!Array.isArray(before) && !Array.isArray(after)) return;
  const [old, now] = [printed(before), printed(after)];
  const gone = [...old.keys()].filter((print) => !now.has(print));
  const fresh = [...now.keys()].filter((print) => !old.has(print));
  const { path, add } = place;
  if (!Array.isArray(before)) return add(path, 'fewer', 'it is a union now, which may allow less');
  if (!Array.isArray(after)) return add(path, 'other', 'it is not a union any more');
  if (gone.length === 1 && fresh.length === 1)
    return compareNodes(old.get(gone[0] ?? ''), now.get(fresh[0] ?? ''), {
      ...place,
      depth: place.depth + 1,
    });
  if (gone.length > 0)
    add(path, 'fewer', `${gone.length} of ${old.size} alternatives were removed or changed`);
  if (fresh.length > 0) add(path, 'more', `${fresh.length} alternatives are new or changed`);
}

function printed(union: unknown): ReadonlyMap<string, unknown> {
  return new Map((Array.isArray(union) ? union : []).map((branch) => [canonical(branch), branch]));
}

function fieldsOf({ properties }: JsonSchema): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(isObject(properties) ? properties : {}));
}
