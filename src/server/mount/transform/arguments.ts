// Arguments that are renamed, hidden, fixed, described anew or given a default.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { Middleware } from '../../../protocol/call.js';
import { copyCall } from '../../../protocol/direct.js';
import type { CompiledSchema } from '../../../schema/check/compiled-schema.js';
import type { Issue, ValidationResult } from '../../../schema/check/issue.js';
import { compileSchema } from '../../../schema/compile.js';
import { withJsonSchema } from '../../../schema/schema.js';
import type { StandardResult } from '../../../schema/standard.js';
import { changeOf, changeSchema, checkValue, hides } from './argument-schema.js';
import type { ArgumentChanges } from './changes.js';

/** Arguments as callers see them, and the way to those of the handler. */
export interface ChangedArguments {
  /** The schema that callers see. It gives the input of the handler. */
  readonly schema: CompiledSchema;
  /** The arguments of the handler. */
  readonly toInner: (args: JsonObject) => JsonObject;
  /** The name that callers use; undefined for a hidden argument. */
  readonly outerName: (name: string) => string | undefined;
  /** Middleware between these two sees the arguments of the handler. */
  readonly enter: Middleware;
  readonly leave: Middleware;
}

/** Changes the arguments that a schema describes. Throws a TypeError that describes a mistake in the changes. */
export function changeArguments(original: CompiledSchema, changes: ArgumentChanges): ChangedArguments {
  const json = changeSchema(original.json, changes);
  const names = Object.keys(isObject(original.json['properties']) ? original.json['properties'] : {});
  const isHidden = (name: string): boolean => hides(changeOf(changes, name));
  const outerName = (name: string): string | undefined =>
    isHidden(name) ? undefined : (changeOf(changes, name).name ?? name);
  const innerOf = new Map<string, string>();
  for (const name of names) {
    const outer = outerName(name);
    if (outer !== undefined) innerOf.set(outer, name);
  }
  // The handler knows these names, but callers do not.
  const reserved = new Set(names.filter((name) => !innerOf.has(name)));
  const fixed: [string, unknown][] = [];
  const defaults: [string, unknown][] = [];
  for (const [name, change] of Object.entries(changes)) {
    for (const key of ['default', 'value'] as const)
      if (change[key] !== undefined) checkValue(original.json, name, change[key]);
    if (change.value !== undefined) fixed.push([name, change.value]);
    else if (change.default !== undefined) defaults.push([name, change.default]);
  }

  function toInner(args: JsonObject): JsonObject {
    const entries = Object.entries(args).flatMap(([key, value]): [string, unknown][] => {
      const name = innerOf.get(key);
      if (name !== undefined) return [[name, value]];
      return reserved.has(key) ? [] : [[key, value]];
    });
    const sent = new Set(entries.flatMap(([name, value]) => (value === undefined ? [] : [name])));
    for (const [name, value] of defaults) if (!sent.has(name)) entries.push([name, structuredClone(value)]);
    for (const [name, value] of fixed) entries.push([name, structuredClone(value)]);
    // Not an assignment, which would treat "__proto__" differently.
    return Object.fromEntries(entries);
  }

  function toOuter(args: JsonObject): JsonObject {
    const entries = Object.entries(args).flatMap(([name, value]): [string, unknown][] => {
      const outer = outerName(name);
      return outer === undefined ? [] : [[outer, value]];
    });
    return Object.fromEntries(entries);
  }

  const isClosed = original.json['additionalProperties'] === false;
  function validate(value: unknown): StandardResult<unknown> | Promise<StandardResult<unknown>> {
    if (!isObject(value)) return toStandard({ ok: false, issues: [{ path: [], message: 'not an object' }] });
    const unknown = isClosed ? Object.keys(value).find((key) => reserved.has(key)) : undefined;
    if (unknown !== undefined) return { issues: [{ path: [unknown], message: 'unknown field' }] };
    const result = original.validate(toInner(value));
    return result instanceof Promise ? result.then(toStandard) : toStandard(result);
  }

  function toStandard(result: ValidationResult<unknown>): StandardResult<unknown> {
    return result.ok ? { value: result.value } : { issues: result.issues.map(toOuterIssue) };
  }

  function toOuterIssue({ path, message }: Issue): Issue {
    const [first, ...rest] = path;
    if (typeof first !== 'string') return { path, message };
    if (isHidden(first)) return { path: [], message: 'a value that the server sets itself is not valid' };
    return { path: [outerName(first) ?? first, ...rest], message };
  }

  const vendor = 'fullmcp';
  const schema = compileSchema(withJsonSchema({ '~standard': { version: 1, vendor, validate } }, json), {
    io: 'input',
    requireObject: true,
  });
  return { schema, toInner, outerName, ...passage(toInner, toOuter) };
}

type Rename = (args: JsonObject) => JsonObject;

function passage(
  toInner: Rename,
  toOuter: Rename,
): { readonly enter: Middleware; readonly leave: Middleware } {
  // Arguments that no middleware has changed go out as they came in, and are not checked again.
  const cameAs = new WeakMap<object, unknown>();
  return {
    async enter(call, next) {
      const args = call.params['arguments'] ?? {};
      if (!isObject(args)) return next(call);
      const own = toInner(args);
      cameAs.set(own, call.params['arguments']);
      return next(copyCall(call, { params: { ...call.params, arguments: own } }));
    },
    async leave(call, next) {
      const { arguments: own, ...params } = call.params;
      if (!isObject(own)) return next(call);
      const args = cameAs.has(own) ? cameAs.get(own) : toOuter(own);
      return next(copyCall(call, { params: args === undefined ? params : { ...params, arguments: args } }));
    },
  };
}
