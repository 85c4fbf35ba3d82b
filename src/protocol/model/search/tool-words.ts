// The words of a tool, each with a weight for the place that it comes from.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { singular } from './singular.js';
import { wordsOf } from './words.js';

/** A tool, as it is searched for. */
export interface SearchableTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly inputSchema?: Readonly<JsonObject> | undefined;
}

const WEIGHTS = { name: 3, title: 3, tags: 3, description: 3, argument: 1, argumentDescription: 0.5 };

// The tool may come from a peer: nothing of it is read without end.
const MAX_TEXT = 4000;
const MAX_TAGS = 32;
const MAX_ARGUMENTS = 200;
const MAX_DEPTH = 6;

/** The words of a tool, by their forms, with their weights. */
export function toolWords({
  name,
  title,
  description,
  tags,
  inputSchema,
}: SearchableTool): Map<string, number> {
  const words = new Map<string, number>();
  addText(words, name, WEIGHTS.name);
  addText(words, title, WEIGHTS.title);
  addText(words, description, WEIGHTS.description);
  for (const tag of Array.isArray(tags) ? tags.slice(0, MAX_TAGS) : []) addText(words, tag, WEIGHTS.tags);
  addArguments(words, inputSchema);
  return words;
}

function addText(words: Map<string, number>, text: unknown, weight: number): void {
  if (typeof text !== 'string') return;
  for (const { text: whole, parts } of wordsOf(text.slice(0, MAX_TEXT))) {
    addWord(words, singular(whole), weight);
    for (const part of parts) addWord(words, singular(part), weight);
  }
}

function addWord(words: Map<string, number>, word: string, weight: number): void {
  words.set(word, (words.get(word) ?? 0) + weight);
}

/** Adds the names and descriptions of all properties in a schema. */
function addArguments(words: Map<string, number>, schema: unknown): void {
  let budget = MAX_ARGUMENTS;
  function visit(node: unknown, depth: number): void {
    if (!isObject(node) || depth > MAX_DEPTH || budget <= 0) return;
    budget -= 1;
    const { properties } = node;
    if (isObject(properties))
      for (const [name, property] of Object.entries(properties)) {
        if (budget <= 0) return;
        addText(words, name, WEIGHTS.argument);
        if (isObject(property)) addText(words, property['description'], WEIGHTS.argumentDescription);
        visit(property, depth + 1);
      }
    visit(node['items'], depth + 1);
    for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
      const branches = node[keyword];
      if (Array.isArray(branches)) for (const branch of branches) visit(branch, depth + 1);
    }
    for (const keyword of ['$defs', 'definitions'] as const) {
      const definitions = node[keyword];
      if (isObject(definitions))
        for (const definition of Object.values(definitions)) visit(definition, depth + 1);
    }
  }
  visit(schema, 0);
}
