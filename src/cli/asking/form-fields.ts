// The fields of a form that a server shows, and the values that a person types for them.

import { formCheck } from '../../client/checks/output-check.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { closestName } from '../../schema/explain/closest-name.js';
import { cleanLine } from '../../tooling/clean.js';
import { CommandError } from '../command/failures.js';

const MAX_FIELDS = 100;
const MAX_CHOICES = 200;

export interface FormField {
  readonly name: string;
  readonly schema: JsonObject;
  /** The values to choose from; empty if any value may be typed. */
  readonly choices: readonly Choice[];
  /** Whether a person has to type a value: it is required, and has no default. */
  readonly isRequired: boolean;
}

interface Choice {
  readonly value: unknown;
  readonly title: string;
}

/** The fields of a form. */
export function fieldsOf(form: JsonObject): readonly FormField[] {
  const fields = Object.entries(isObject(form['properties']) ? form['properties'] : {});
  if (fields.length > MAX_FIELDS)
    throw new CommandError(
      'protocol',
      `The server asks for ${fields.length} fields at once; a form may have ${MAX_FIELDS}.`,
    );
  const required: readonly unknown[] = Array.isArray(form['required']) ? form['required'] : [];
  return fields.map(([name, field]) => {
    const schema = isObject(field) ? field : {};
    const choices = choicesOf(schema['type'] === 'array' ? schema['items'] : schema);
    return { name, schema, choices, isRequired: required.includes(name) && !('default' in schema) };
  });
}

function choicesOf(schema: unknown): readonly Choice[] {
  if (!isObject(schema)) return [];
  const { enum: values, enumNames: titles } = schema;
  if (Array.isArray(values))
    return values.slice(0, MAX_CHOICES).map((value, at) => {
      const title: unknown = Array.isArray(titles) ? titles[at] : undefined;
      return { value, title: typeof title === 'string' ? title : String(value) };
    });
  const union = schema['oneOf'] ?? schema['anyOf'];
  return (Array.isArray(union) ? union.slice(0, MAX_CHOICES) : [])
    .filter((one) => isObject(one) && 'const' in one)
    .map(({ const: value, title }) => ({ value, title: typeof title === 'string' ? title : String(value) }));
}

/** The values that a field takes, in a few words. */
export function expectedOf({ schema, choices, isRequired }: FormField): string {
  const byDefault = 'default' in schema ? `, default ${printed(schema['default'])}` : '';
  return `${cleanLine(typeIn(schema, choices), 300)}${byDefault}${isRequired ? ', required' : ''}`;
}

function typeIn(schema: JsonObject, choices: readonly Choice[]): string {
  const names = choices.map(({ value, title }) =>
    title === String(value) ? title : `${String(value)} (${title})`,
  );
  const { type, format, maxItems, minimum, maximum } = schema;
  if (type === 'array') {
    const most = typeof maxItems === 'number' ? `up to ${maxItems} of: ` : 'some of: ';
    return names.length > 0 ? `${most}${names.join(', ')}` : 'values with commas between them';
  }
  if (names.length > 0) return names.join(' | ');
  if (type === 'boolean') return 'y/n';
  if (type === 'integer' || type === 'number') {
    const bounds = [minimum, maximum].map((bound) => (typeof bound === 'number' ? String(bound) : ''));
    const kind = type === 'integer' ? 'a whole number' : 'a number';
    return bounds.join('') === '' ? kind : `${kind}, ${bounds.join('..')}`;
  }
  return typeof format === 'string' ? `text: ${format}` : 'text';
}

/** A value that fits the field, to show how one writes it. */
export function exampleOf({ schema, choices }: FormField): string {
  const first = 'default' in schema ? [schema['default']].flat().join(',') : choices[0]?.value;
  if (first !== undefined) return String(first);
  if (schema['type'] === 'boolean') return 'true';
  if (schema['type'] === 'integer' || schema['type'] === 'number') return String(schema['minimum'] ?? 1);
  return '…';
}

export type ReadField = { readonly value: unknown } | { readonly problem: string };

/** Reads the text that was typed for a field. */
export function readField(field: FormField, text: string): ReadField {
  const read = readText(field, text.trim());
  if ('problem' in read) return read;
  const { name, schema } = field;
  const check = formCheck({
    type: 'object',
    properties: Object.fromEntries([[name, schema]]),
    required: [name],
  });
  const problem = check?.(Object.fromEntries([[name, read.value]]));
  return problem === undefined ? read : { problem };
}

function readText({ schema, choices }: FormField, text: string): ReadField {
  const { type } = schema;
  if (type === 'array') {
    const items = text === '' ? [] : text.split(',').map((item) => choose(choices, item.trim()));
    const wrong = items.find((item) => 'problem' in item);
    return wrong ?? { value: items.map((item) => ('value' in item ? item.value : undefined)) };
  }
  if (choices.length > 0) return choose(choices, text);
  if (type === 'boolean') return readYesOrNo(text);
  if (type !== 'integer' && type !== 'number') return { value: text };
  const number = Number(text);
  if (text !== '' && Number.isFinite(number)) return { value: number };
  return { problem: `expected a number, got ${JSON.stringify(text)}` };
}

function choose(choices: readonly Choice[], text: string): ReadField {
  if (choices.length === 0) return { value: text };
  const same = (name: string): boolean => name.toLowerCase() === text.toLowerCase();
  const found =
    choices.find(({ value }) => String(value) === text) ??
    choices.find(({ value, title }) => same(String(value)) || same(title));
  if (found) return { value: found.value };
  const names = choices.map(({ value }) => String(value));
  const close = closestName(text, names);
  const hint = close ? `close: ${close}` : `expected one of ${names.join(', ')}`;
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
