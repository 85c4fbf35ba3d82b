import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { quote, shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { type Root, withDefaults } from '../../protocol/model/input.js';

// Checks the values that handlers return before they are sent: the server could only ask again, and the program would not know why.

/**
 * The error for a handler that returned something that is not an answer. The message is for the program. It has nothing of the value but
 * its shape, so in a session, where the server tells the program how the call ended, it is sent to the server.
 */
export class HandlerMistake extends McpError {
  constructor(message: string) {
    super('internal_error', message);
  }
}

/** The error for answers that never fitted their form. The message may have a part of them, so it is for the program alone. */
export class UnfitAnswer extends TypeError {}

/** The reason why the content of an accepted form does not fit its schema. */
export interface Misfit {
  readonly misfit: string;
}

const actions: readonly unknown[] = ['accept', 'decline', 'cancel'];
const ANSWER_SHAPES = 'Return { action: "accept", content }, { action: "decline" } or { action: "cancel" }.';

/** Reads a handler's answer to a form; a `Misfit` if it does not fit the form. Throws if the value is not an answer. */
export async function readFormResult(value: unknown, schema: JsonObject): Promise<JsonObject | Misfit> {
  const action = actionOf(value, 'elicit', ANSWER_SHAPES, schema);
  if (action !== 'accept') return { action };
  const { content = {} } = value as JsonObject;
  if (!isObject(content))
    throw new HandlerMistake(
      `The \`elicit\` handler returned ${nameOf(content)} as \`content\`. It must be an object with the fields of the form.`,
    );
  const complete = withDefaults(schema, content) as JsonObject;
  const misfit = Object.keys(schema).length === 0 ? undefined : await misfitOf(complete, schema);
  return misfit === undefined ? { action, content: complete } : { misfit };
}

export function readUrlResult(value: unknown): JsonObject {
  return { action: actionOf(value, 'elicit.url', ANSWER_SHAPES.replace(', content', '')) };
}

function actionOf(value: unknown, handler: string, advice: string, schema: JsonObject = {}): string {
  const action = isObject(value) ? value['action'] : undefined;
  if (actions.includes(action)) return action as string;
  const fields = isObject(schema['properties']) ? schema['properties'] : {};
  const misplaced = isObject(value) ? Object.keys(value).filter((key) => Object.hasOwn(fields, key)) : [];
  const mistake =
    typeof action === 'string'
      ? `an object with \`action: ${quote(action, 40)}\``
      : isObject(value)
        ? `an object without \`action\`${misplaced.length > 0 ? `: ${quoteAll(misplaced)} must be inside \`content\`` : ''}`
        : nameOf(value);
  throw new HandlerMistake(`The \`${handler}\` handler returned ${mistake}. ${advice}`);
}

export function readSamplingResult(value: unknown): JsonObject {
  const { role, model, content } = isObject(value) ? value : {};
  const mistake = !isObject(value)
    ? nameOf(value)
    : role !== 'assistant' && role !== 'user'
      ? 'an object whose `role` is not "assistant" or "user"'
      : typeof model !== 'string'
        ? 'an object without `model`, the name of the model'
        : !isContent(content)
          ? 'an object whose `content` is not a content block or an array of them'
          : undefined;
  if (mistake === undefined) return { ...(value as JsonObject) };
  throw new HandlerMistake(
    `The \`sample\` handler returned ${mistake}. Return { role: "assistant", model: "its name", content: { type: "text", text } }.`,
  );
}

function isContent(content: unknown): boolean {
  const isBlock = (block: unknown): boolean => isObject(block) && typeof block['type'] === 'string';
  return Array.isArray(content) ? content.every(isBlock) : isBlock(content);
}

export function readRoots(value: unknown): readonly Root[] {
  if (!Array.isArray(value))
    throw new HandlerMistake(
      `\`roots\` returned ${nameOf(value)}. It must be an array of URIs, such as ["file:///its/path"], or of { uri, name }.`,
    );
  return value.map(toRoot);
}

function toRoot(root: unknown): Root {
  const uri = isObject(root) ? root['uri'] : root;
  if (typeof uri !== 'string')
    throw new HandlerMistake(`\`roots\` contains ${nameOf(root)}. Write a URI, or { uri, name }.`);
  if (!URL.canParse(uri))
    throw new HandlerMistake(`The root "${uri}" is not a URI. Write a folder as file:///its/path.`);
  return isObject(root) ? (root as unknown as Root) : { uri };
}

async function misfitOf(content: JsonObject, schema: JsonObject): Promise<string | undefined> {
  // The validator is loaded only when a form arrives.
  const { formCheck } = await import('../checks/output-check.js');
  return formCheck(schema)?.(content);
}

function quoteAll(names: readonly string[]): string {
  return names
    .slice(0, 10)
    .map((name) => `\`${shorten(name, 64)}\``)
    .join(', ');
}

function nameOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
