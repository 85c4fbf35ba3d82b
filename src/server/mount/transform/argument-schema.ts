// The JSON Schema of changed arguments.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { unknownKeys } from '../../../protocol/checks/known-keys.js';
import { compileSchema } from '../../../schema/compile.js';
import { closestName } from '../../../schema/explain/closest-name.js';
import type { ArgumentChange, ArgumentChanges } from './changes.js';

const changeKeys = {
  name: true,
  title: true,
  description: true,
  default: true,
  value: true,
  hidden: true,
} satisfies Record<keyof ArgumentChange, true>;

/** Keywords at the root of a schema that may speak of single properties, or of their number. */
const ABOUT_PROPERTIES = [
  ...[
    '$ref',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
    'if',
    'dependentRequired',
    'dependentSchemas',
    'dependencies',
  ],
  ...['propertyNames', 'patternProperties', 'minProperties', 'maxProperties', 'unevaluatedProperties'],
];

/** Changes a JSON Schema of arguments. Throws a TypeError that describes a mistake in the changes. */
export function changeSchema(json: Readonly<JsonObject>, changes: ArgumentChanges): JsonObject {
  const properties = isObject(json['properties']) ? json['properties'] : {};
  const required: unknown[] = Array.isArray(json['required']) ? json['required'] : [];
  const renamed: [string, unknown][] = [];
  const stillRequired: string[] = [];
  checkNames(Object.keys(properties), changes);
  checkRoot(json, changes);
  for (const [name, property] of Object.entries(properties)) {
    const change = changeOf(changes, name);
    const isRequired = required.includes(name);
    checkChange(name, change, isRequired);
    if (hides(change)) continue;
    const outer = change.name ?? name;
    if (renamed.some(([taken]) => taken === outer))
      throw new TypeError(`two arguments would have the name "${outer}"`);
    renamed.push([outer, describe(property, change)]);
    if (isRequired && change.default === undefined) stillRequired.push(outer);
  }
  const { properties: _, required: __, ...rest } = json;
  return {
    ...rest,
    properties: Object.fromEntries(renamed),
    ...(stillRequired.length > 0 && { required: stillRequired }),
  };
}

/** The change of an argument, whose name may be that of a member of every object. */
export function changeOf(changes: ArgumentChanges, name: string): ArgumentChange {
  return (Object.hasOwn(changes, name) ? changes[name] : undefined) ?? {};
}

/** Whether an argument is hidden. */
export function hides({ hidden, value }: ArgumentChange): boolean {
  return hidden === true || value !== undefined;
}

/** Throws if the value of an argument does not fit its schema. */
export function checkValue(json: Readonly<JsonObject>, name: string, value: unknown): void {
  const property = (json['properties'] as JsonObject)[name];
  if (!isObject(property)) return;
  const { $defs, definitions } = json;
  const schema = {
    ...property,
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
  const checked = compileSchema(schema, { io: 'input' }).validate(value);
  if (checked instanceof Promise || checked.ok) return;
  throw new TypeError(
    `the value ${JSON.stringify(value)} does not fit the argument "${name}": ${checked.issues[0]?.message ?? ''}`,
  );
}

function describe(property: unknown, { title, description, default: value }: ArgumentChange): unknown {
  if (property === false) return property;
  return {
    ...(isObject(property) && property),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(value !== undefined && { default: value }),
  };
}

function checkNames(names: readonly string[], changes: ArgumentChanges): void {
  for (const name of Object.keys(changes)) {
    if (names.includes(name)) continue;
    const closest = closestName(name, names);
    const hint =
      closest === undefined
        ? `The arguments are: ${names.join(', ') || 'none'}.`
        : `Did you mean "${closest}"?`;
    throw new TypeError(`"args" names "${name}", which is not an argument. ${hint}`);
  }
}

function checkChange(name: string, change: ArgumentChange, isRequired: boolean): void {
  const [unknown] = unknownKeys(change, changeKeys, { fixed: 'value', hide: 'hidden', rename: 'name' });
  if (unknown !== undefined) throw new TypeError(`"args.${name}.${unknown.key}" is unknown. ${unknown.hint}`);
  // A value from the environment, for example. The argument would be open to callers.
  if ('value' in change && change.value === undefined)
    throw new TypeError(`"args.${name}.value" is undefined. Set it, or remove it.`);
  if (change.default !== undefined && change.value !== undefined)
    throw new TypeError(
      `"args.${name}" has both "default" and "value". A "value" is fixed: remove one of them.`,
    );
  if (change.hidden && isRequired && change.default === undefined && change.value === undefined)
    throw new TypeError(
      `the argument "${name}" is required, so it cannot be hidden without a value. Add "value", or "default".`,
    );
}

function checkRoot(json: Readonly<JsonObject>, changes: ArgumentChanges): void {
  const isOnlyDescribed = Object.values(changes).every(
    ({ name, hidden, value, default: byDefault }) =>
      name === undefined && !hidden && value === undefined && byDefault === undefined,
  );
  if (isOnlyDescribed) return;
  const keyword = ABOUT_PROPERTIES.find((key) => json[key] !== undefined) ?? refersToRoot(json);
  if (keyword !== undefined)
    throw new TypeError(
      `its arguments can only be described anew, because its schema has "${keyword}", which may speak of them by name. Write a tool that calls this one instead.`,
    );
}

/** Finds a reference to the root of a schema, or to one of its properties. */
function refersToRoot(json: unknown): string | undefined {
  if (Array.isArray(json)) return json.map(refersToRoot).find((found) => found !== undefined);
  if (!isObject(json)) return undefined;
  const { $ref } = json;
  if (typeof $ref === 'string' && ($ref === '#' || $ref.startsWith('#/properties'))) return `$ref: ${$ref}`;
  return Object.values(json)
    .map(refersToRoot)
    .find((found) => found !== undefined);
}
