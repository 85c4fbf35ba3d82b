// The features that each side offers, in words, and those that it does not offer, by name.

import { isObject, type JsonObject } from '../../../../src/jsonrpc/message.js';

interface Offer {
  readonly name: string;
  /** The options that are on, in words. */
  readonly notes: readonly string[];
}

export interface Offers {
  readonly offered: readonly Offer[];
  readonly missing: readonly string[];
}

const SERVER = ['tools', 'resources', 'prompts', 'completions', 'logging', 'tasks'];
const CLIENT = ['elicitation', 'sampling', 'roots', 'tasks'];
const CONTAINERS = ['extensions', 'experimental'];
const MAX_OFFERS = 40;

const NOTES: Readonly<Record<string, string>> = {
  listChanged: 'reports changes',
  subscribe: 'subscriptions',
  form: 'forms',
  url: 'links',
  tools: 'with tools',
  context: 'with context',
  list: 'lists them',
  cancel: 'can cancel',
};

export const serverOffers = (capabilities: JsonObject): Offers => offersOf(capabilities, SERVER);
export const clientOffers = (capabilities: JsonObject): Offers => offersOf(capabilities, CLIENT);

function offersOf(capabilities: JsonObject, known: readonly string[]): Offers {
  const names = Object.keys(capabilities).filter((name) => !CONTAINERS.includes(name));
  const extensions = CONTAINERS.flatMap((container) => {
    const inside = capabilities[container];
    return isObject(inside) ? Object.keys(inside).map((name) => ({ name, notes: [kindOf(container)] })) : [];
  });
  return {
    offered: [
      ...known.filter((name) => names.includes(name)).map((name) => offer(name, capabilities[name])),
      ...names.filter((name) => !known.includes(name)).map((name) => offer(name, capabilities[name])),
      ...extensions,
    ].slice(0, MAX_OFFERS),
    // A capability may have become an extension, as that of tasks.
    missing: known.filter(
      (name) => !names.includes(name) && !extensions.some((extension) => extension.name.endsWith(`/${name}`)),
    ),
  };
}

const kindOf = (container: string): string => (container === 'extensions' ? 'extension' : 'experimental');

function offer(name: string, options: unknown): Offer {
  if (!isObject(options)) return { name, notes: [] };
  const notes = Object.entries(options)
    .filter(([, value]) => value === true || isObject(value))
    .map(([key]) => (Object.hasOwn(NOTES, key) ? (NOTES[key] ?? key) : key));
  return { name, notes: notes.slice(0, 8) };
}
