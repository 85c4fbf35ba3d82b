// Applies the rules of one host to the tools of a manifest.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { cleanLine } from '../clean.js';
import type { HostProfile, HostRow } from './host-profiles.js';
import { type EffectOfWord, effectOf, wordsOf } from './name-words.js';
import { schemaProblem } from './refused-schema.js';
import type { Found } from './rules.js';

/** A finding of a rule of a host. */
export interface HostFound extends Found {
  readonly row: HostRow;
}

/** The names and schemas of hostile servers are read so far and no further. */
const MAX_TEXT = 100_000;
const MAX_PROPERTIES = 1000;
const MAX_SHOWN = 5;

interface Checked {
  readonly name: string;
  readonly tool: JsonObject;
  readonly row: HostRow;
  /** The name of the server. */
  readonly server: string;
}

type Check = (checked: Checked) => string | undefined;

/** The findings about one tool for this host. */
export function checkForHost(tool: JsonObject, { rows }: HostProfile, server: string): readonly HostFound[] {
  const name = String(tool['name']);
  return rows.flatMap((row) => {
    const says = Object.hasOwn(checks, row.rule)
      ? checks[row.rule]?.({ name, tool, row, server })
      : undefined;
    return says === undefined ? [] : [{ rule: row.rule, says, row }];
  });
}

/** The findings about all tools together for this host. */
export function checkListForHost(tools: readonly JsonObject[], { rows }: HostProfile): readonly HostFound[] {
  return rows.flatMap((row) =>
    row.rule === 'many-tools' && tools.length > (row.limit ?? 0)
      ? [{ rule: row.rule, says: `it has ${tools.length} tools, more than ${row.limit}`, row }]
      : [],
  );
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'openWorldHint'];

const checks: Readonly<Record<string, Check>> = {
  'hints-explicit': ({ tool }) => {
    const hints = annotationsOf(tool);
    const missing = HINTS.filter((hint) => typeof hints[hint] !== 'boolean');
    return missing.length === 0 ? undefined : `it does not set ${missing.join(', ')}`;
  },
  'title-missing': ({ tool }) =>
    isText(tool['title']) || isText(annotationsOf(tool)['title']) ? undefined : 'it has no title',
  'hints-missing': ({ tool }) => {
    const { readOnlyHint, destructiveHint } = annotationsOf(tool);
    return typeof readOnlyHint === 'boolean' || typeof destructiveHint === 'boolean'
      ? undefined
      : 'it sets neither readOnlyHint nor destructiveHint';
  },
  'hints-contradict-name': ({ name, tool }) => contradiction(name, annotationsOf(tool)),
  'generic-executor': ({ name, tool }) => executorProblem(name, tool),
  'free-command': ({ name, tool }) =>
    executorProblem(name, tool) === undefined ? freeCommand(tool) : undefined,
  'mixed-effects': ({ tool }) => mixedEffects(tool),
  'text-steers': ({ tool }) => steering(tool['description']),
  'name-promotes': ({ name, tool }) => {
    const words = [...wordsOf(name), ...(isText(tool['title']) ? wordsOf(tool['title']) : [])];
    const word = words.find((one) => PROMOTING.has(one));
    return word === undefined ? undefined : `its name or title praises it ("${word}")`;
  },
  'input-excessive': ({ tool }) => {
    const names = propertiesOf(tool['inputSchema']).map(([name]) => name);
    const excessive = names.filter((name) => EXCESSIVE.has(folded(name)));
    return excessive.length === 0 ? undefined : `it asks for ${listed(excessive)}`;
  },
  'output-schema-missing': ({ tool }) =>
    isObject(tool['outputSchema']) ? undefined : 'it has no output schema',
  'output-internals': ({ tool }) => {
    const names = propertiesOf(tool['outputSchema']).map(([name]) => name);
    const internal = names.filter((name) => INTERNAL.has(folded(name)));
    return internal.length === 0 ? undefined : `its result has ${listed(internal)}`;
  },
  'output-not-object': ({ tool }) =>
    isObject(tool['outputSchema']) && tool['outputSchema']['type'] !== 'object'
      ? 'the root of its output does not have the type "object"'
      : undefined,
  'host-name-long': ({ name, row: { limit = 0 } }) =>
    name.length > limit ? `its name has ${name.length} characters, more than ${limit}` : undefined,
  'full-name-long': ({ name, row: { limit = 0, prefix = '' }, server }) => {
    const { length } = prefix.replace('{server}', () => server) + name;
    return length > limit
      ? `the name that the model sees has ${length} characters, with the server's name, more than ${limit}`
      : undefined;
  },
  'name-replaced': ({ name, row: { characters } }) => {
    const replaced = [...new Set(characters && name.slice(0, MAX_TEXT).match(characters))];
    return replaced.length === 0 ? undefined : `the host replaces ${listed(replaced)} in its name by _`;
  },
  'host-description-long': ({ tool: { description }, row: { limit = 0 } }) =>
    typeof description === 'string' && description.length > limit
      ? `its description has ${description.length} characters, more than ${limit}`
      : undefined,
  'schema-refused': ({ tool }) => schemaProblem(tool['inputSchema']),
};

function contradiction(name: string, { readOnlyHint, destructiveHint }: JsonObject): string | undefined {
  if (readOnlyHint !== true) return undefined;
  if (destructiveHint === true) return 'it is marked as reading only and as destructive';
  const words = wordsOf(name);
  if (words.some((word) => effectOf(word) === 'read')) return undefined;
  const writes = words.find((word) => effectOf(word) === 'write');
  return writes && `it is marked as reading only, and its name says "${writes}"`;
}

/** Tools that run whatever they are given. */
const EXECUTORS = new Set(['call_tool', 'run_code', 'execute_code', 'api_request', 'http_request', 'eval']);
/** Arguments that together make a request to anything. */
const TARGETS = ['path', 'url', 'endpoint', 'uri', 'route'];
/** Arguments that are programs, if the tool's name says that it runs them. */
const PROGRAMS = ['code', 'command', 'sql', 'script', 'cmd', 'shell', 'graphql', 'statement'];
const RUNS = new Set(['run', 'execute', 'exec', 'eval', 'invoke', 'query', 'shell', 'command']);

function executorProblem(name: string, tool: JsonObject): string | undefined {
  const free = new Set(freeTexts(tool).map(folded));
  const all = new Set(propertiesOf(tool['inputSchema']).map(([property]) => folded(property)));
  if (EXECUTORS.has(name.toLowerCase())) return 'it runs whatever it is given';
  const target = TARGETS.find((one) => free.has(one));
  if (all.has('method') && target !== undefined) return `it sends any request ("method" and "${target}")`;
  const named = ['tool', 'toolname', 'operation'].find((one) => free.has(one));
  const passed = ['arguments', 'args', 'params', 'parameters', 'input'].find((one) => all.has(one));
  if (named !== undefined && passed !== undefined)
    return `it calls any operation ("${named}" and "${passed}")`;
  const program = PROGRAMS.find((one) => free.has(one));
  return program !== undefined && wordsOf(name).some((word) => RUNS.has(word))
    ? `it runs whatever "${program}" says`
    : undefined;
}

function freeCommand(tool: JsonObject): string | undefined {
  const free = freeTexts(tool).find((name) => ['sql', 'command', 'graphql', 'script'].includes(folded(name)));
  return free && `"${cleanLine(free, 64)}" takes any text`;
}

/** One argument that chooses between reading and writing. */
function mixedEffects(tool: JsonObject): string | undefined {
  for (const [name, property] of propertiesOf(tool['inputSchema'])) {
    const choices = isObject(property) && Array.isArray(property['enum']) ? property['enum'] : [];
    const words = choices.slice(0, MAX_PROPERTIES).filter(isText).map(firstEffect);
    const [reads, writes] = [words.find(isEffect('read')), words.find(isEffect('write'))];
    if (reads && writes)
      return `"${cleanLine(name, 64)}" chooses between reading (${cleanLine(reads.word, 40)}) and writing (${cleanLine(writes.word, 40)})`;
  }
  return undefined;
}

function firstEffect(choice: string): { word: string; effect: EffectOfWord } {
  return { word: choice, effect: effectOf(wordsOf(choice)[0] ?? '') };
}

function isEffect(effect: EffectOfWord): (one: { effect: EffectOfWord }) => boolean {
  return (one) => one.effect === effect;
}

/** Phrases that tell a model more than what the tool does. */
const STEERING = [
  'always call this',
  'always use this tool',
  'you must call',
  'you must always',
  'ignore previous',
  'ignore all previous',
  'ignore other tools',
  'instead of other tools',
  'prefer this tool',
  'do not tell the user',
  "don't tell the user",
  'without telling the user',
  'do not use any other',
  'system prompt',
];

function steering(description: unknown): string | undefined {
  if (typeof description !== 'string') return undefined;
  const text = description.slice(0, MAX_TEXT).toLowerCase();
  const phrase = STEERING.find((one) => text.includes(one));
  return phrase && `its description tells the model what to do ("${phrase}")`;
}

const PROMOTING = new Set(['best', 'official', 'top', 'greatest', 'ultimate', 'leading']);
const EXCESSIVE = new Set([
  'location',
  'latitude',
  'longitude',
  'history',
  'conversation',
  'chathistory',
  'messages',
  'password',
  'apikey',
  'accesstoken',
  'cardnumber',
  'creditcard',
  'cvv',
  'ssn',
]);
const INTERNAL = new Set(['traceid', 'spanid', 'requestid', 'sessionid', 'stacktrace', 'logs', 'debug']);

/** The arguments that take any text. */
function freeTexts(tool: JsonObject): readonly string[] {
  return propertiesOf(tool['inputSchema'])
    .filter(
      ([, property]) =>
        isObject(property) &&
        property['type'] === 'string' &&
        ['enum', 'const', 'pattern', 'format'].every((limit) => property[limit] === undefined),
    )
    .map(([name]) => name);
}

function propertiesOf(schema: unknown): readonly (readonly [string, unknown])[] {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).slice(0, MAX_PROPERTIES);
}

function annotationsOf({ annotations }: JsonObject): JsonObject {
  return isObject(annotations) ? annotations : {};
}

function folded(name: string): string {
  return name.slice(0, 100).toLowerCase().replaceAll(/[_.-]/g, '');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function listed(names: readonly string[]): string {
  const some = names.slice(0, MAX_SHOWN).map((name) => cleanLine(name, 64));
  return names.length > MAX_SHOWN ? `${some.join(', ')}, …` : some.join(', ');
}
