// The question for the person who approves a call.

import type { ToolUse } from '../../protocol/tool-use.js';
import type { PolicyInput, ReadRule } from './rules.js';
import { isJson, isPlain, show, showText } from './show.js';

/** The largest number of arguments that are shown. */
const MAX_ARGUMENTS = 40;
/** The number of characters for all values together, and for one of them. */
const MAX_CHARACTERS = 4000;
const MAX_VALUE = 400;
const MIN_VALUE = 80;
const MAX_REASON = 500;

/**
 * The question: the tool first, then the reasons and the arguments. Both may contain anything that a client, or a model, has written, so
 * each of them stays on its line, without a character that is invisible or moves others. They are indented by four spaces: to a client
 * that shows Markdown, that is code.
 */
export function approvalText(use: ToolUse, sent: PolicyInput, rules: readonly ReadRule[]): string {
  const all = argumentsOf(use.input, sent);
  const limit = Math.max(MIN_VALUE, Math.min(MAX_VALUE, Math.floor(MAX_CHARACTERS / (all.length || 1))));
  const lines = all.slice(0, MAX_ARGUMENTS).map(([name, value]) => lineOf(name, value, limit));
  const hidden = all.length - lines.length;
  const isCut = hidden > 0 || lines.some((line) => line.isCut);
  const reasons = reasonsFor(use, rules);
  return [
    `Do you approve this call of the tool "${use.tool.name}"?`,
    ...(isCut ? ['Some of its arguments are too long to be shown in full.'] : []),
    ...(reasons.length > 0 ? ['', ...reasons.map((reason) => `    Reason: ${reason}`)] : []),
    '',
    ...lines.map(({ text }) => `    ${text}`),
    ...(hidden > 0 ? [`    (${hidden} more arguments)`] : []),
    ...(all.length === 0 ? ['    (no arguments)'] : []),
  ].join('\n');
}

function reasonsFor(use: ToolUse, rules: readonly ReadRule[]): readonly string[] {
  const reasons = rules.flatMap(({ path, question }) => {
    const reason: unknown =
      typeof question === 'function' ? question(use.input as PolicyInput, use) : question;
    if (reason !== undefined && typeof reason !== 'string')
      throw new TypeError(`${path}.question must return a string.`);
    return reason === undefined || reason === '' ? [] : showText(reason, MAX_REASON);
  });
  return [...new Set(reasons)];
}

/**
 * The arguments as the handler gets them, with its defaults and without what its schema removes. A value that is not JSON, because the
 * schema has converted it, is shown as it was sent.
 */
function argumentsOf(input: unknown, sent: PolicyInput): readonly (readonly [string, unknown])[] {
  if (!isPlain(input)) return Object.entries(sent);
  return Object.entries(input)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, !isJson(value) && Object.hasOwn(sent, name) ? sent[name] : value]);
}

function lineOf(
  name: string,
  value: unknown,
  limit: number,
): { readonly text: string; readonly isCut: boolean } {
  const shown = show(value, limit);
  const label = /^[A-Za-z_][\w-]{0,63}$/.test(name) ? name : show(name, MIN_VALUE).text;
  return { ...shown, text: `${label}: ${shown.text}` };
}
