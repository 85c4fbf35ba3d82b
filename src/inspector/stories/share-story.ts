// A story as one HTML file for somebody else: without scripts, without anything to fetch, and without secrets.

import { FONT_FACE } from '../../face/font.js';
import { MARK } from '../../face/mark.js';
import { tryParse } from '../../jsonrpc/try-parse.js';
import { Secrets } from '../../testing/recording/secrets.js';
import { clean, cleanJson, cleanLine } from '../../tooling/clean.js';
import type { QuestionView, Story } from '../contract/story.js';

/** The facts about the connection of a story. */
export interface SharedFacts {
  /** The name that the server gives itself. */
  readonly server: string;
  readonly revision: string | undefined;
  /** The version of the package. */
  readonly version: string;
  /** The whole outcome as JSON, if it is not part of the story. */
  readonly outcome: string | undefined;
  /** The definition of the tool, whose schemas mark secrets. */
  readonly definition: unknown;
  /** Replaces the secrets of the connection in a string. */
  readonly mask: (text: string) => string;
}

const MAX_PART = 500_000;
const MAX_TICKS = 200;

/** The policy of the file: it may use its own style with its font, and nothing else. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'";
const STYLE =
  '.mark{color:#3b78e7}body{font:15px/1.5 Inter,system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1e21;background:#fff}h1{font-size:1.4rem;overflow-wrap:anywhere}h2{font-size:1rem;margin:1.5rem 0 .5rem}pre{background:#f4f5f7;padding:.75rem;border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere}dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{color:#5b626b}dd{margin:0;overflow-wrap:anywhere}@media(prefers-color-scheme:dark){body{color:#e6e8eb;background:#16181b}pre{background:#22262b}dt{color:#a0a8b2}}';

/** The file. Everything in it that came from a server, or was typed, is text. */
export function sharedStory(story: Story, facts: SharedFacts): string {
  const secrets = new Secrets();
  secrets.learnFrom([facts.definition, story.questions.map(({ schema }) => schema)]);
  // All at once: a secret of one part is looked for in all others.
  const safe = secrets.without({
    title: story.title,
    server: facts.server,
    args: story.args,
    questions: story.questions,
    error: story.error,
    ticks: story.ticks.slice(-MAX_TICKS).map(({ text: words }) => words),
    result: tryParse(facts.outcome ?? '') ?? story.outcome,
  });
  const print: Print = (value) => text(facts.mask(value));
  const [name, server] = [safe.title, safe.server].map((value) => cleanLine(facts.mask(value), 200));
  const title = text(`${name} · ${server}`);
  const parts: readonly Part[] = [
    ['Arguments', json(safe.args)],
    ...safe.questions.map(question),
    ['Progress and messages', safe.ticks.join('\n')],
    ['Error', safe.error && `${safe.error.message}\n\n${safe.error.code}`],
    ['Result', json(safe.result)],
  ];
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">',
    `<title>${title}</title><style>${FONT_FACE}${STYLE}</style></head><body><main>`,
    MARK,
    `<h1>${title}</h1>`,
    factList(story, { ...facts, server: safe.server }, print),
    ...parts.map((part) => section(part, print)),
    '</main></body></html>',
    '',
  ].join('\n');
}

/** A heading and the text below it. */
type Part = readonly [name: string, content: string | undefined];

/** Text of others as HTML, without the secrets of the connection. */
type Print = (value: string) => string;

function factList(story: Story, { server, revision, version }: SharedFacts, print: Print): string {
  const { method, state, at, serverMs, youMs, rounds } = story;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['server', server],
    ['revision', revision],
    ['method', method],
    ['state', state],
    ['at', new Date(at).toISOString()],
    ['time of the server', `${serverMs} ms`],
    ['time of the user', youMs > 0 ? `${youMs} ms` : undefined],
    ['rounds', rounds.length > 1 ? String(rounds.length) : undefined],
    ['made with', `fullmcp ${version}`],
  ];
  const items = rows.map(([name, value]) =>
    value === undefined ? '' : `<dt>${name}</dt><dd>${print(cleanLine(value, 300))}</dd>`,
  );
  return `<dl>${items.join('')}</dl>`;
}

function question({ message, answer, url, gone }: QuestionView): Part {
  const words = [message, url, json(answer), gone].filter((part) => part !== undefined);
  return ['Question', words.join('\n\n')];
}

function section([name, content]: Part, print: Print): string {
  if (content === undefined || content === '') return '';
  const isCut = content.length > MAX_PART;
  const shown = isCut
    ? `${content.slice(0, MAX_PART)}\n… (${content.length - MAX_PART} more characters)`
    : content;
  return `<section><h2>${name}</h2><pre>${print(shown)}</pre></section>`;
}

function json(value: unknown): string | undefined {
  const printed = JSON.stringify(value, undefined, 2);
  return printed === undefined || printed === '{}' ? undefined : cleanJson(printed);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function text(value: string): string {
  return clean(value).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
