// Differences between two manifests, and which of them break programs that were written for the first one.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { canonical } from '../../protocol/canonical.js';
import { cleanLine } from '../clean.js';
import { LIST_NAMES, LISTS, type Manifest, type ManifestList } from './manifest.js';
import { compareSchemas } from './schema-change.js';
import type { Flow } from './schema-limits.js';
import { versionKept } from './version-kept.js';

export interface ManifestChange {
  readonly kind: 'server' | 'tool' | 'resource' | 'template' | 'prompt';
  /** The name, or the URI; of the server, the part of its description. */
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly breaking: boolean;
  /** The difference, in a few words. */
  readonly says: string;
}

type Kind = ManifestChange['kind'];
type Part = Pick<ManifestChange, 'breaking' | 'says'>;

/** All differences: those of the server first, then of each list by name. */
export function compareManifests(before: Manifest, after: Manifest): readonly ManifestChange[] {
  return [
    ...compareServers(before, after),
    ...LIST_NAMES.flatMap((list) => compareLists(list, before, after)),
  ];
}

function compareServers(before: Manifest, after: Manifest): readonly ManifestChange[] {
  const changed = (name: string, says: string, breaking = false): ManifestChange => ({
    kind: 'server',
    name,
    change: 'changed',
    breaking,
    says,
  });
  const facts = (['name', 'title', 'version'] as const)
    .filter((fact) => !isSame(before.server[fact], after.server[fact]))
    .map((fact) => changed(fact, wasAndIs(before.server[fact], after.server[fact])));
  const lost = missing(before.capabilities, after.capabilities).map((name) => ({
    ...changed(cleanLine(name, 64), 'this capability was removed', true),
    change: 'removed' as const,
  }));
  const gained = missing(after.capabilities, before.capabilities).map((name) => ({
    ...changed(cleanLine(name, 64), 'this capability is new'),
    change: 'added' as const,
  }));
  return [
    ...facts,
    ...(before.revision === after.revision
      ? []
      : [changed('revision', wasAndIs(before.revision, after.revision))]),
    ...(before.instructions === after.instructions ? [] : [changed('instructions', 'they changed')]),
    ...lost,
    ...gained,
  ];
}

function missing(here: JsonObject, there: JsonObject): readonly string[] {
  return Object.keys(here).filter((name) => !Object.hasOwn(there, name));
}

function compareLists(list: ManifestList, before: Manifest, after: Manifest): readonly ManifestChange[] {
  const { key, one: kind } = LISTS[list];
  const [old, now] = [byKey(before[list], key), byKey(after[list], key)];
  const entry = (name: string, change: ManifestChange['change'], part: Part): ManifestChange => ({
    kind,
    name,
    change,
    ...part,
  });
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)];
    if (was === undefined) return [entry(name, 'added', { breaking: false, says: 'new' })];
    if (is !== undefined)
      return isSame(was, is) ? [] : partsOf(kind, was, is).map((part) => entry(name, 'changed', part));
    const twin = twinOf(
      was,
      key,
      [...now].filter(([other]) => !old.has(other)),
    );
    const says =
      twin === undefined ? 'removed' : `removed; ${cleanLine(twin, 128)} is the same under a new name`;
    return [entry(name, 'removed', removedPart(was, list === 'tools' ? after.removed : undefined, says))];
  });
}

/** The removal of an entry. It breaks nobody if the tool still answers the callers that know it. */
function removedPart(was: JsonObject, removed: Manifest['removed'] = [], says = 'removed'): Part {
  const is = removed.find(({ name }) => name === was['name']);
  if (is === undefined) return { breaking: true, says };
  const version = versionKept(was, is);
  return version === undefined
    ? {
        breaking: true,
        says: `${says}; its versions still answer callers, but none has the schemas that they know`,
      }
    : {
        breaking: false,
        says: `${says}; version ${cleanLine(version, 64)} still answers callers that know it, until "versions" does not have it any more`,
      };
}

/** The new entry that differs in its key alone; for a template, the one with the same name. */
function twinOf(
  was: JsonObject,
  key: string,
  fresh: readonly (readonly [string, JsonObject])[],
): string | undefined {
  const same = fresh.find(([, is]) =>
    key === 'uriTemplate' ? is['name'] === was['name'] : isSame({ ...is, [key]: '' }, { ...was, [key]: '' }),
  );
  return same?.[0];
}

function byKey(items: readonly JsonObject[], key: string): ReadonlyMap<string, JsonObject> {
  return new Map(items.map((item) => [String(item[key]), item]));
}

function partsOf(kind: Kind, was: JsonObject, is: JsonObject): readonly Part[] {
  const compared = new Set(['inputSchema', 'outputSchema', 'annotations', 'arguments']);
  const fields = [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter((field) => !compared.has(field) && !isSame(was[field], is[field]))
    .map((field) => ({
      // A program that reads one format cannot read another.
      breaking: field === 'mimeType',
      says:
        field === 'mimeType'
          ? `its MIME type ${wasAndIs(was[field], is[field])}`
          : `its ${cleanLine(field, 40)} changed`,
    }));
  if (kind === 'prompt') return [...fields, ...argumentsOf(was, is)];
  if (kind !== 'tool') return fields;
  const schemas = [...schemaParts('input', was, is), ...outputParts(was, is)];
  return [...fields, ...servedParts(schemas, versionKept(was, is)), ...hints(was, is)];
}

/** Changes of a tool that has kept an earlier version break nobody: that version answers the calls that were written for it. */
function servedParts(parts: readonly Part[], version: string | undefined): readonly Part[] {
  if (version === undefined) return parts;
  return parts.map(({ breaking, says }) => ({
    breaking: false,
    says: breaking ? `${says}; version ${cleanLine(version, 64)} still answers` : says,
  }));
}

function schemaParts(flow: Flow, was: JsonObject, is: JsonObject): readonly Part[] {
  const [before, after] = [was[`${flow}Schema`], is[`${flow}Schema`]];
  if (!isObject(before) || !isObject(after)) return [];
  return compareSchemas(before, after, flow).map(({ path, says, isBreaking }) => ({
    breaking: isBreaking,
    says: `${flow === 'output' ? 'result ' : ''}${path === '' ? '' : `${cleanLine(path, 128)}: `}${says}`,
  }));
}

function outputParts(was: JsonObject, is: JsonObject): readonly Part[] {
  const [before, after] = [was['outputSchema'], is['outputSchema']];
  if (before !== undefined && after === undefined)
    return [{ breaking: true, says: 'its result has no schema any more' }];
  if (before === undefined && after !== undefined)
    return [{ breaking: false, says: 'its result has a schema now' }];
  return schemaParts('output', was, is);
}

/** Hosts let a tool run without asking because of its hints: a tool that is more dangerous than before breaks that trust. */
function hints(was: JsonObject, is: JsonObject): readonly Part[] {
  const [before, after] = [was['annotations'], is['annotations']].map((one) => (isObject(one) ? one : {}));
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .filter((name) => !isSame(before?.[name], after?.[name]))
    .map((name) => ({
      breaking:
        (name === 'readOnlyHint' && before?.[name] === true) ||
        (name === 'idempotentHint' && before?.[name] === true) ||
        (name === 'destructiveHint' && before?.[name] === false),
      says: `its ${cleanLine(name, 40)} ${wasAndIs(before?.[name], after?.[name])}`,
    }));
}

function argumentsOf(was: JsonObject, is: JsonObject): readonly Part[] {
  const [old, now] = [was['arguments'], is['arguments']].map(
    (list) =>
      new Map((Array.isArray(list) ? list : []).filter(isObject).map((one) => [String(one['name']), one])),
  );
  return [...new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])].flatMap((name): Part[] => {
    const [before, after] = [old?.get(name), now?.get(name)];
    const at = cleanLine(name, 128);
    if (!after) return [{ breaking: true, says: `${at}: this argument was removed` }];
    const isRequired = after['required'] === true;
    if (!before)
      return [
        { breaking: isRequired, says: `${at}: this ${isRequired ? 'required' : 'optional'} argument is new` },
      ];
    if (isRequired && before['required'] !== true)
      return [{ breaking: true, says: `${at}: it is required now` }];
    return isSame(before, after) ? [] : [{ breaking: false, says: `${at}: its description changed` }];
  });
}

function isSame(one: unknown, other: unknown): boolean {
  return canonical(one ?? null) === canonical(other ?? null);
}

function wasAndIs(was: unknown, is: unknown): string {
  return `was ${shown(was)} and is ${shown(is)}`;
}

function shown(value: unknown): string {
  return value === undefined ? 'not set' : cleanLine(JSON.stringify(value), 80);
}
