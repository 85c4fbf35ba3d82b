// A form of a question as HTML, and the fields that a browser sends as an answer.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { type Html, html } from '../../../oauth/proxy/pages/html.js';

// The names of the form's own fields cannot be those of a question: these get a prefix.
const PREFIX = 'f.';

/** The fields of a question, without the buttons. */
export function fieldsOf({ properties, required }: JsonObject): Html {
  const needed = Array.isArray(required) ? required : [];
  const fields = Object.entries(isObject(properties) ? properties : {});
  return html`${fields.map(([name, field]) => fieldOf(name, field as JsonObject, needed.includes(name)))}`;
}

function fieldOf(name: string, field: JsonObject, isNeeded: boolean): Html {
  const { title = name, description } = field;
  const about = description !== undefined && html`<br><small class="soft">${String(description)}</small>`;
  if (field['type'] === 'boolean')
    return html`<p class="remember"><input type="checkbox" id="${PREFIX + name}" name="${PREFIX + name}" value="true"${field['default'] === true && html` checked`}><label for="${PREFIX + name}">${String(title)}${about}</label></p>`;
  return html`<p><label for="${PREFIX + name}">${String(title)}${!isNeeded && html` <small class="soft">(optional)</small>`}${about}</label><br>${controlOf(name, field, isNeeded)}</p>`;
}

function controlOf(name: string, field: JsonObject, isNeeded: boolean): Html {
  const must = isNeeded && html` required`;
  const id = html`id="${PREFIX + name}" name="${PREFIX + name}"`;
  const { type, default: preset } = field;
  const choices = choicesOf(type === 'array' ? (field['items'] as JsonObject) : field);
  if (choices !== undefined) {
    const isChosen = (value: string): boolean =>
      Array.isArray(preset) ? preset.includes(value) : preset === value;
    const options = choices.map(
      ([value, text]) => html`<option value="${value}"${isChosen(value) && html` selected`}>${text}</option>`,
    );
    if (type === 'array') return html`<select ${id} multiple>${options}</select>`;
    return html`<select ${id}${must}>${!isNeeded && html`<option value=""></option>`}${options}</select>`;
  }
  const value = preset === undefined ? undefined : html` value="${String(preset)}"`;
  if (type === 'string') return html`<input ${id} ${textAttributes(field)}${value}${must}>`;
  const step = type === 'integer' ? '1' : 'any';
  return html`<input ${id} type="number" step="${step}"${limit('min', field['minimum'])}${limit('max', field['maximum'])}${value}${must}>`;
}

const TYPES: Readonly<Record<string, string>> = { email: 'email', uri: 'url', date: 'date' };

function textAttributes({ format, minLength, maxLength }: JsonObject): Html {
  return html`type="${TYPES[String(format)] ?? 'text'}"${limit('minlength', minLength)}${limit('maxlength', maxLength)}`;
}

function limit(name: string, value: unknown): Html | undefined {
  return typeof value === 'number' ? html` ${name}="${value}"` : undefined;
}

function choicesOf({
  enum: values,
  enumNames,
  oneOf,
  anyOf,
}: JsonObject): (readonly [value: string, text: string])[] | undefined {
  const titled = oneOf ?? anyOf;
  if (Array.isArray(titled))
    return titled.map((choice: JsonObject) => [String(choice['const']), String(choice['title'])] as const);
  if (!Array.isArray(values)) return undefined;
  const names = Array.isArray(enumNames) ? enumNames : values;
  return values.map((value, at) => [String(value), String(names[at] ?? value)] as const);
}

/** The values of the form that a browser has sent, as the schema of the question wants them. */
export function valuesOf({ properties }: JsonObject, sent: URLSearchParams): JsonObject {
  const values: JsonObject = {};
  for (const [name, field] of Object.entries(isObject(properties) ? properties : {})) {
    const value = readValue(field as JsonObject, sent.getAll(PREFIX + name));
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function readValue({ type }: JsonObject, sent: readonly string[]): unknown {
  const [first = ''] = sent;
  switch (type) {
    case 'boolean':
      return first === 'true';
    case 'array':
      return sent;
    case 'number':
    case 'integer':
      return first === '' ? undefined : Number(first);
    default:
      return first === '' ? undefined : first;
  }
}
