import { writeFileSync } from 'node:fs';
import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Implementation } from '../../../protocol/model/model.js';
import { cleanJson } from '../../../tooling/clean.js';
import { makeCard, serverCard } from '../../../transports/http/server/server-card.js';
import type { Command, Typed } from '../../command/definition.js';
import { CommandError, usageError } from '../../command/failures.js';
import { fileToWrite, SAVE_OPTIONS } from '../../results/save.js';
import { connectOptions, withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { failOn, readDocument } from './publishing/check-document.js';
import { cardProblems, fetchCard } from './publishing/server-card.js';
import { spokenRevisions } from './publishing/spoken-revisions.js';

/** The longest title or description of a card, by the draft. */
const MAX_TEXT = 100;

/** `fullmcp publish card`. */
export const card: Command = {
  usage: '<target or card.json> [--name name]',
  details:
    'A server card is a public document that says where a server is and what it is for; its format is a draft (SEP-2127). With a URL, the\ncard that the server serves is fetched, checked and printed. With a file, that file is checked. With --name, a card is made from what the\nserver says about itself, and from the revisions that it speaks, which are all tried. A card has no tools, and no values of secrets.',
  words: [1, 1],
  options: {
    name: { type: 'string', value: 'name', help: 'make a card with this name, as in com.example/weather' },
    url: { type: 'string', value: 'url', help: 'the public address of the server; default: the target' },
    description: { type: 'string', value: 'text', help: 'its purpose, if the server does not say it' },
    ...SAVE_OPTIONS,
    ...TARGET_OPTIONS,
  },
  examples: [
    {
      line: 'fullmcp publish card https://example.com/mcp',
      says: 'Fetches and checks the card of a server.',
    },
    {
      line: 'fullmcp publish card ./server.ts --name com.example/weather --url https://example.com/mcp -o card.json',
      says: 'Makes a card.',
    },
    { line: 'fullmcp publish card card.json', says: 'Checks a file.' },
  ],
  json: '{ ok: boolean, card: object, file?: string, problems?: string[] }; ok is false if the card has problems, and the exit code is 1',
  run: async (input) => {
    const { out } = input;
    const file = fileToWrite(input);
    const found = await cardOf(input);
    failOn(cardProblems(found), { about: 'The card', more: { card: found }, out });
    const text = cleanJson(JSON.stringify(found, undefined, 2));
    if (file !== undefined) save(file, text, input.flag('force'));
    else out.styled(text);
    out.json({ ok: true, card: found, ...(file !== undefined && { file }) });
    if (file !== undefined && !out.isJson) out.note(`Written to ${file}.`);
  },
};

async function cardOf(input: Typed): Promise<JsonObject> {
  const [word = ''] = input.words;
  if (input.text('name') !== undefined) return made(input);
  for (const option of ['url', 'description'])
    if (input.text(option) !== undefined) throw usageError(`--${option} needs --name, which makes a card.`);
  if (/^https?:\/\//i.test(word) && URL.canParse(word)) return fetchCard(word, input.signal);
  const saved = /\.json$/i.test(word) ? readDocument(word) : undefined;
  if (saved !== undefined) return saved;
  throw usageError(
    'Give a URL or a card.json. To make the card of another target, add --name com.example/server.',
  );
}

/** A card of a server that is asked for its name, version and description. */
async function made(input: Typed): Promise<JsonObject> {
  let card: JsonObject | undefined;
  await withTarget(input, async ({ client, target }) => {
    const info = client.server.info as (Implementation & { readonly description?: string }) | undefined;
    const description = input.text('description') ?? info?.description;
    const title = info?.title;
    const publicUrl = input.text('url') ?? (/^https?:/i.test(target.word) ? target.word : undefined);
    if (publicUrl === undefined || !URL.canParse(publicUrl))
      throw usageError('--url is missing: the public address of the server.');
    if (!fits(description))
      throw usageError(
        `--description is missing: the purpose of the server, in 1 to ${MAX_TEXT} characters. The server has none or a longer one.`,
      );
    const options = { name: input.text('name') ?? '', description, ...(fits(title) && { title }) };
    try {
      serverCard(options);
      const revisions = await spokenRevisions(target.target, connectOptions(input, target));
      card = makeCard(options, { info, publicUrl, path: undefined, revisions });
    } catch (error) {
      throw error instanceof TypeError ? usageError(error.message) : error;
    }
  });
  return card as JsonObject;
}

function fits(text: unknown): text is string {
  return typeof text === 'string' && text !== '' && text.length <= MAX_TEXT;
}

function save(file: string, text: string, force: boolean): void {
  try {
    writeFileSync(file, `${text}\n`, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    throw new CommandError('failed', `${file} cannot be written: ${(error as Error).message}.`);
  }
}
