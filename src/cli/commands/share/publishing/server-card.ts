// Server cards: reads the card of a server that is running, and checks cards.

import { isObject, type JsonObject } from '../../../../jsonrpc/message.js';
import { CommandError } from '../../../command/failures.js';
import { isWebUrl, parseDocument, schemaProblems } from './check-document.js';
import {
  arrayOf,
  ICONS,
  NAMED_INPUT,
  object,
  REPOSITORY,
  SERVER_NAME,
  SHORT,
  STRING,
  STRINGS,
  VERSION,
} from './document-schemas.js';

const MAX_BYTES = 1_000_000;
const TIMEOUT_MS = 15_000;

const SCHEMA = object(
  {
    ...{ $schema: STRING, name: SERVER_NAME, version: VERSION, description: SHORT, title: SHORT },
    ...{ websiteUrl: STRING, repository: REPOSITORY, icons: ICONS },
    remotes: arrayOf(
      object(
        {
          type: { enum: ['streamable-http', 'sse'] },
          url: STRING,
          headers: arrayOf(NAMED_INPUT),
          supportedProtocolVersions: STRINGS,
        },
        ['type', 'url'],
      ),
    ),
  },
  ['name', 'version', 'description'],
);

/** The problems of a card. */
export function cardProblems(card: JsonObject): readonly string[] {
  const problems = schemaProblems(card, SCHEMA);
  if (problems.length > 0) return problems;
  const remotes = (card['remotes'] ?? []) as readonly JsonObject[];
  return [
    ...['tools', 'resources', 'prompts', 'instructions']
      .filter((field) => card[field] !== undefined)
      .map((field) => `"${field}" does not belong in a card: clients ask the server for it.`),
    ...remotes.flatMap(({ url, headers }, at) => [
      ...(isWebUrl(url)
        ? urlProblems(new URL(String(url)), `remotes[${at}].url`)
        : [`remotes[${at}].url must be a URL.`]),
      ...(Array.isArray(headers)
        ? headers.flatMap((header) => headerProblems(header, `remotes[${at}]`))
        : []),
    ]),
  ];
}

function urlProblems({ username, password, search }: URL, at: string): readonly string[] {
  const isPlain = username === '' && password === '' && search === '';
  return isPlain ? [] : [`${at} has a user, a password or a query, and a card is public.`];
}

function headerProblems(header: unknown, at: string): readonly string[] {
  if (!isObject(header) || (header['value'] === undefined && header['default'] === undefined)) return [];
  return [`${at}: the header ${JSON.stringify(header['name'])} has a value, and a card is public.`];
}

/** Fetches the card that a server serves beside its endpoint. */
export async function fetchCard(endpoint: string, signal: AbortSignal): Promise<JsonObject> {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/server-card`;
  // The card is public: neither a password nor a query of the endpoint is sent.
  Object.assign(url, { username: '', password: '', search: '', hash: '' });
  const reply = await fetch(url, {
    redirect: 'error',
    headers: { accept: 'application/mcp-server-card+json, application/json' },
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  }).catch((error: Error) => {
    throw new CommandError('connect', `${url.href} cannot be fetched: ${reasonOf(error)}.`);
  });
  if (!reply.ok) {
    await reply.body?.cancel();
    throw new CommandError(
      'failed',
      `The server has no card: ${url.href} answers with status ${reply.status}. Serve one with the option card, or make one with: fullmcp publish card ${endpoint} --name com.example/server`,
    );
  }
  return parseDocument(await limitedText(reply), url.href);
}

async function limitedText(reply: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of reply.body ?? []) {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new CommandError('protocol', 'The card is larger than 1 MB.');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function reasonOf({ cause, message }: Error): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}
