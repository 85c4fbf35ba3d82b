// The arguments that are typed for each tool. They stay while one looks at other tools, and when the page is loaded again.

import { type Signal, signal } from '@preact/signals';
import { BoundedMap } from '../../../src/async/bounded-map.js';
import type { ToolView } from '../../../src/inspector/contract/connection.js';
import type { Story } from '../../../src/inspector/contract/story.js';
import { isObject, type JsonObject } from '../../../src/jsonrpc/message.js';
import { tryParse } from '../../../src/jsonrpc/try-parse.js';
import { initialArguments } from '../../form/initial-value.js';
import { fromQuery } from './from-query.js';

export interface Draft {
  readonly value: unknown;
  /** The JSON as it was typed: in the editor, it is what counts, also when it cannot be read. */
  readonly text: string | undefined;
  /** The user wanted to run: now what is missing is worth a word. */
  readonly isAttempted: boolean;
  /** The values of the address that it began with. */
  readonly from?: string;
}

const KEY = 'fullmcp.drafts';
const MAX_DRAFTS = 50;
const MAX_STORED = 200_000;

const drafts: Signal<ReadonlyMap<string, Draft>> = signal(stored());

export function draftOf(connection: string, { tool }: ToolView): Draft {
  return drafts.value.get(keyOf(connection, tool.name)) ?? fresh(schemaOf(tool));
}

/** Changes a part of a draft. */
export function setDraft(connection: string, view: ToolView, change: Partial<Draft>): void {
  const key = keyOf(connection, view.tool.name);
  const next = { ...draftOf(connection, view), ...change };
  const all = new BoundedMap<string, Draft>(MAX_DRAFTS);
  for (const [name, draft] of drafts.value) all.set(name, draft);
  drafts.value = all.set(key, next);
  store();
}

/** Starts anew, with what an address says. */
export function prefill(connection: string, view: ToolView, query: URLSearchParams): void {
  const from = query.toString();
  // Loading the page again must not take back what was typed since.
  if (draftOf(connection, view).from === from) return;
  const schema = schemaOf(view.tool);
  const value = { ...initialArguments(schema), ...fromQuery(query, schema) };
  setDraft(connection, view, { value, text: undefined, isAttempted: false, from });
}

export function forgetDraft(connection: string, { tool }: ToolView): void {
  const next = new Map(drafts.value);
  next.delete(keyOf(connection, tool.name));
  drafts.value = next;
  store();
}

/** The arguments to send; undefined if the JSON cannot be read. */
export function argumentsOf({ value, text }: Draft): JsonObject | undefined {
  const read = text === undefined ? value : tryParse(text.trim() || '{}');
  return isObject(read) ? read : undefined;
}

export function schemaOf(tool: JsonObject): JsonObject {
  const schema = tool['inputSchema'];
  return typeof schema === 'object' && schema !== null ? (schema as JsonObject) : {};
}

/** The mark in the place of a secret that the history does not have. */
const REMOVED = '***';

/** The arguments of a run for the form. Secrets that were removed are empty again. */
export function keptArguments({ args, earlier }: Story): JsonObject | undefined {
  if (args === undefined || !earlier?.lacks.includes('secrets')) return args;
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== REMOVED));
}

const begun = new WeakMap<JsonObject, Draft>();

function fresh(schema: JsonObject): Draft {
  const known = begun.get(schema);
  if (known) return known;
  const draft = { value: initialArguments(schema), text: undefined, isAttempted: false };
  begun.set(schema, draft);
  return draft;
}

function keyOf(connection: string, tool: string): string {
  return `${connection}\n${tool}`;
}

function stored(): ReadonlyMap<string, Draft> {
  try {
    const entries: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
    return new Map(Array.isArray(entries) ? (entries as [string, Draft][]) : []);
  } catch {
    return new Map();
  }
}

function store(): void {
  try {
    const text = JSON.stringify([...drafts.value]);
    if (text.length <= MAX_STORED) sessionStorage.setItem(KEY, text);
  } catch {
    // Then it stays until the page is closed.
  }
}
