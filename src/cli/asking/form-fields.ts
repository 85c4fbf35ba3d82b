// The fields of a form that a server shows, and the values that a person types for them.

import { formCheck, type OutputCheck } from '../../client/checks/output-check.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { closestName } from '../../schema/explain/closest-name.js';
import { fieldsOf as fieldsOfSchema } from '../../schema/read/across-branches.js';
import { type Shape, type ShapeField, type ShapeOption, shapeOf } from '../../schema/read/shape.js';
import { cleanLine } from '../../tooling/clean.js';
import { CommandError } from '../command/failures.js';
import { typeOf } from '../terminal/signature.js';

const MAX_FIELDS = 100;
const MAX_CHOICES = 200;

export interface FormField {
  readonly name: string;
  readonly shape: Shape;
  /** The shape of each value if several may be typed, with commas between them. */
  readonly item: Shape | undefined;
  /** The values to choose from; empty if any value may be typed. */
  readonly choices: readonly ShapeOption[];
  /** Whether a person has to type a value: it is required, and has no default. */
  readonly isRequired: boolean;
  /** The type of a value that can only be written as JSON. */
  readonly jsonType: string | undefined;
  /** Returns the reason why the server would reject a value. */
  readonly check: OutputCheck;
}

/** The fields of a form. */
export function fieldsOf(form: JsonObject): readonly FormField[] {
  const fields = fieldsOfSchema(form, form);
  if (fields.length > MAX_FIELDS)
    throw new CommandError(
      'protocol',
      `The server asks for ${fields.length} fields at once; a form may have ${MAX_FIELDS}.`,
    );
  return fields.map((field) => fieldOf(field, form));
}

/** A field of a form, or an argument of a tool. */
export function fieldOf(field: ShapeField, form: JsonObject): FormField {
  const shape = shapeOf(field.schema, form);
  const item = shape.kind === 'array' ? shapeOf(shape.items, form) : undefined;
  const { name, isRequired } = field;
  return {
    name,
    shape,
    item,
    choices: choicesOf(item ?? shape),
    isRequired: isRequired && !('default' in shape.schema),
    jsonType: isJsonOnly(item ?? shape) ? typeOf(field.schema, form) : undefined,
    check: checkOf(field, form),
  };
}

function choicesOf(shape: Shape): readonly ShapeOption[] {
  if (shape.kind === 'const') return [{ value: shape.value, label: String(shape.value) }];
  return shape.kind === 'choice' ? shape.options.slice(0, MAX_CHOICES) : [];
}

function checkOf({ name, schema }: ShapeField, { $defs, definitions }: JsonObject): OutputCheck {
  const properties = Object.fromEntries([[name, schema]]);
  return (value) => {
    const check = formCheck({
      type: 'object',
      properties,
      required: [name],
      ...(isObject($defs) && { $defs }),
      ...(isObject(definitions) && { definitions }),
    });
    return withoutName(check?.(Object.fromEntries([[name, value]])), name);
  };
}

/** The reason alone: a person who is asked for one field knows which one it is. */
function withoutName(reason: string | undefined, name: string): string | undefined {
  const [start, end] = [`${name}: `, ` Valid fields: ${name}.`];
  const rest = reason?.endsWith(end) ? reason.slice(0, -end.length) : reason;
  return rest?.startsWith(start) ? rest.slice(start.length) : rest;
}

/** The values that a field takes, in a few words. */
export function expectedOf(field: FormField): string {
  return `${takenBy(field)}${field.isRequired ? ', required' : ''}`;
}

/** The field as a person is asked for it: what must be filled in stands beside the name, not behind the values that it takes. */
export function questionOf(field: FormField): { readonly name: string; readonly taken: string } {
  const name = `${cleanLine(field.name, 40)}${field.isRequired ? ' (required)' : ''}`;
  return { name, taken: takenBy(field) };
}

function takenBy(field: FormField): string {
  const { schema } = field.shape;
  const byDefault = 'default' in schema ? `, default ${printed(schema['default'])}` : '';
  return `${cleanLine(typeIn(field), 300)}${byDefault}`;
}

function typeIn({ shape, item, choices }: FormField): string {
  const names = choices.map(({ value, label }) =>
    label === String(value) ? label : `${String(value)} (${label})`,
  );
  const { format, maxItems, minimum, maximum } = shape.schema;
  if (item) {
    const most = typeof maxItems === 'number' ? `up to ${maxItems} of ` : 'some of ';
    if (names.length > 0) return `${most}${names.join(' | ')}, separated by commas`;
    return isJsonOnly(item) ? 'a JSON array' : 'values with commas between them';
  }
  if (names.length > 0) return names.join(' | ');
  switch (shape.kind) {
    case 'boolean':
      return 'y/n';
    case 'number': {
      // The bounds of safe integers, which zod gives to every integer, mean nothing to a person.
      const bounds = [minimum, maximum].map((bound) =>
        typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER ? String(bound) : '',
      );
      const kind = shape.isInteger ? 'a whole number' : 'a number';
      return bounds.join('') === '' ? kind : `${kind}, ${bounds.join('..')}`;
    }
    case 'object':
    case 'map':
    case 'tuple':
      return 'JSON';
    default:
      return typeof format === 'string' ? `text: ${format}` : 'text';
  }
}

/** A value that fits the field, to show how one writes it. */
export function exampleOf({ shape, choices }: FormField): string {
  const { schema } = shape;
  const first = 'default' in schema ? [schema['default']].flat().join(',') : choices[0]?.value;
  if (first !== undefined) return String(first);
  if (shape.kind === 'boolean') return 'true';
  return shape.kind === 'number' ? String(schema['minimum'] ?? 1) : '…';
}

export type ReadField = { readonly value: unknown } | { readonly problem: string };

/** Reads the text that was typed for a field. */
export function readField(field: FormField, text: string): ReadField {
  const read = readText(field, text.trim());
  if ('problem' in read) return read;
  const problem = field.check(read.value);
  return problem === undefined ? read : { problem };
}

function readText({ shape, item, choices }: FormField, text: string): ReadField {
  if (!item) return readOne(shape, choices, text);
  if (text.startsWith('[') && choices.length === 0) return readJson(text);
  const items = text === '' ? [] : text.split(',').map((one) => readOne(item, choices, one.trim()));
  const wrong = items.find((one) => 'problem' in one);
  return wrong ?? { value: items.map((one) => ('value' in one ? one.value : undefined)) };
}

function readOne({ kind }: Shape, choices: readonly ShapeOption[], text: string): ReadField {
  if (choices.length > 0) return choose(choices, text);
  switch (kind) {
    case 'boolean':
      return readYesOrNo(text);
    case 'number':
      return readNumber(text);
    case 'object':
    case 'map':
    case 'tuple':
    case 'array':
      return readJson(text);
    case 'union':
    case 'any':
    case 'null': {
      // Of several types, text is the one that cannot be read as JSON.
      const read = readJson(text);
      return 'value' in read ? read : { value: text };
    }
    default:
      return { value: text };
  }
}

/** Whether a value in a list can only be written as JSON. */
function isJsonOnly({ kind }: Shape): boolean {
  return kind === 'object' || kind === 'map' || kind === 'tuple' || kind === 'array';
}

function readNumber(text: string): ReadField {
  const number = Number(text);
  if (text !== '' && Number.isFinite(number)) return { value: number };
  return { problem: `expected a number, got ${JSON.stringify(text)}` };
}

function readJson(text: string): ReadField {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { problem: `expected JSON, got ${JSON.stringify(text)}` };
  }
}

function choose(choices: readonly ShapeOption[], text: string): ReadField {
  const same = (name: string): boolean => name.toLowerCase() === text.toLowerCase();
  const found =
    choices.find(({ value }) => String(value) === text) ??
    choices.find(({ value, label }) => same(String(value)) || same(label));
  if (found) return { value: found.value };
  const names = choices.map(({ value }) => String(value));
  const close = closestName(text, names);
  const hint = close ? `did you mean ${JSON.stringify(close)}?` : `expected one of ${names.join(', ')}`;
  return { problem: cleanLine(`${JSON.stringify(text)} is not a choice; ${hint}`, 300) };
}

/** Reads yes or no. */
export function readYesOrNo(text: string): ReadField {
  if (/^(?:y|yes|true)$/i.test(text)) return { value: true };
  if (/^(?:n|no|false)$/i.test(text)) return { value: false };
  return { problem: `expected y or n, got ${JSON.stringify(text)}` };
}

function printed(value: unknown): string {
  return cleanLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), 60);
}
