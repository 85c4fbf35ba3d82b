// The server card (draft of SEP-2127) and the AI catalog: documents that say where a server is, before anybody connects to it.

import { unknownKeys } from '../../../protocol/checks/known-keys.js';
import { fillDefaults, type OptionTable, optionMistakes } from '../../../protocol/checks/options.js';
import type { Icon } from '../../../protocol/model/content.js';
import type { Implementation } from '../../../protocol/model/model.js';
import { digestOf } from '../../../protocol/model/skills/digest.js';
import type { HeaderFields, Incoming } from './incoming.js';

/** A header that clients have to send, as a server card describes it. A card is public: it never has the value of a secret. */
type CardHeader = {
  /** The name of the header, such as `X-Api-Key`. */
  readonly name: string;
  /** The purpose of the header, for people. */
  readonly description?: string;
  /** Whether the server refuses requests without it. Default, for clients: false. */
  readonly isRequired?: boolean;
  /** Whether the value is a secret. Default, for clients: false. */
  readonly isSecret?: boolean;
  /** A value that shows the form, such as `Bearer …`. */
  readonly placeholder?: string;
};

/** The options of `serverCard`. Everything in them is public. */
export interface ServerCardOptions {
  /** The name of the server in the world: a domain that you own, reversed, a slash and a name, as in `com.example/weather`. */
  readonly name: string;
  /** The purpose of the server, in at most 100 characters. Default: the `description` of the server. */
  readonly description?: string;
  /** The name that people see, in at most 100 characters. Default: none. */
  readonly title?: string;
  /** The address of a page about the server. Default: none. */
  readonly websiteUrl?: string;
  /** Icons. Default: none. */
  readonly icons?: readonly Icon[];
  /** The source code of the server. Default: none. */
  readonly repository?: {
    /** The address of the repository. */
    readonly url: string;
    /** The service that hosts it, such as `github`. */
    readonly source: string;
    /** The folder of the server in the repository. */
    readonly subfolder?: string;
    /** The id of the repository at the service. */
    readonly id?: string;
  };
  /** Headers that clients have to send. Authorization by OAuth needs none. Default: none. */
  readonly headers?: readonly CardHeader[];
  /** Whether `/.well-known/ai-catalog.json` names the card. Default: true. */
  readonly catalog?: boolean;
  /** The time for which the documents may be cached, in milliseconds. Default: 1 hour. */
  readonly maxAgeMs?: number;
}

const optionTable = {
  name: 'any',
  description: 'any',
  title: 'any',
  websiteUrl: 'string',
  icons: 'array',
  repository: 'object',
  headers: 'array',
  catalog: { is: 'boolean', default: true },
  maxAgeMs: { is: 'ms', max: 31_536_000_000, default: 3_600_000 },
} as const satisfies OptionTable<ServerCardOptions>;
const headerTable = {
  name: 'any',
  description: 'any',
  isRequired: 'any',
  isSecret: 'any',
  placeholder: 'any',
} as const satisfies OptionTable<CardHeader>;

/** A server card, for the option `card` of `serve` and of the handlers. */
export interface ServerCard {
  /** The name of the server in the world. */
  readonly name: string;
  /** @internal Makes the function that replies to requests for the documents. Throws if a fact is missing. */
  readonly '~serve': (facts: CardFacts) => ServeCard;
}

/** The facts about an endpoint that its card has. */
interface CardFacts {
  readonly info: Implementation | undefined;
  readonly publicUrl: string | undefined;
  /** The path of the endpoint; undefined if a router has mounted it. */
  readonly path: string | undefined;
  readonly revisions: readonly string[];
}

/** Replies to a request for one of the documents. Undefined if the request is for something else. */
type ServeCard = (incoming: Incoming) => Promise<void> | undefined;

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';
const CARD_TYPE = 'application/mcp-server-card+json';
const CATALOG_TYPE = 'application/ai-catalog+json';
const CATALOG_PATH = '/.well-known/ai-catalog.json';

/**
 * Describes the server to clients that look for servers: a card at `<endpoint>/server-card`, and an entry in the catalog of the website at
 * `/.well-known/ai-catalog.json`. Both are public, whatever `auth` is. They have the name, the version, the purpose, the URL and the
 * revisions of the server, and never its tools. The format is a draft.
 *
 * @example
 * await serve(server, { publicUrl: 'https://example.com/mcp', card: serverCard({ name: 'com.example/weather' }) });
 */
export function serverCard(options: ServerCardOptions): ServerCard {
  const problems = problemsOf(options);
  if (problems.length > 0) throw new TypeError(problems.map((each) => `serverCard: ${each}`).join('\n'));
  const { name, catalog, maxAgeMs } = fillDefaults(options, optionTable);
  return {
    name,
    '~serve'(facts) {
      const card = makeCard(options, facts);
      const { url } = (card['remotes'] as [{ url: string }])[0];
      const cardPath = `${facts.path?.replace(/\/$/, '') ?? ''}/server-card`;
      const isAt = (path: string, wanted: string): boolean =>
        facts.path === undefined ? path.endsWith(wanted) : path === wanted;
      const cardPage = page(card, CARD_TYPE, maxAgeMs);
      const catalogPage = page(
        makeCatalog(name, `${url.replace(/\/$/, '')}/server-card`),
        CATALOG_TYPE,
        maxAgeMs,
      );
      return function serveCard(incoming) {
        if (isAt(incoming.path, cardPath)) return cardPage(incoming);
        return catalog && isAt(incoming.path, CATALOG_PATH) ? catalogPage(incoming) : undefined;
      };
    },
  };
}

/** The card of an endpoint. Throws if a fact is missing. */
export function makeCard(options: ServerCardOptions, facts: CardFacts): Record<string, unknown> {
  const { name, title, websiteUrl, icons, repository, headers } = options;
  const { info, publicUrl, revisions } = facts;
  const description = options.description ?? info?.description;
  const { version } = info ?? {};
  if (publicUrl === undefined)
    throw new TypeError('"card" needs "publicUrl": the card says where clients find the server.');
  const url = new URL(publicUrl);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new TypeError(
      '"card" is public, so "publicUrl" must not have a user, a password, a query or a fragment.',
    );
  if (version === undefined || version.length > 255)
    throw new TypeError('"card" needs a server whose version has at most 255 characters.');
  if (!isShort(description))
    throw new TypeError(
      'A server card needs a description of 1 to 100 characters. The server has none or a longer one: serverCard({ description: "…" }).',
    );
  return {
    ...{ $schema: SCHEMA, name, version, description },
    ...(title !== undefined && { title }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(repository && { repository }),
    ...(icons && { icons }),
    remotes: [
      {
        type: 'streamable-http',
        url: publicUrl,
        ...(headers && { headers }),
        supportedProtocolVersions: revisions,
      },
    ],
  };
}

function makeCatalog(name: string, url: string): object {
  const [namespace, own] = name.split('/') as [string, string];
  const identifier = `urn:air:${namespace.split('.').reverse().join('.')}:mcp:${own}`;
  return { specVersion: '1.0', entries: [{ identifier, type: CARD_TYPE, url }] };
}

// Spec draft, Discovery, CORS Requirements: the pages of every website may read the documents.
const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': 'Content-Type, If-None-Match',
  'access-control-expose-headers': 'ETag',
};

function page(document: object, type: string, maxAgeMs: number): (incoming: Incoming) => Promise<void> {
  const json = JSON.stringify(document);
  let tag: Promise<string> | undefined;
  return async function replyDocument(incoming) {
    const { method } = incoming;
    if (method === 'OPTIONS') return incoming.reply(204, { ...cors, 'access-control-max-age': '86400' });
    if (method !== 'GET' && method !== 'HEAD')
      return incoming.reply(405, { ...cors, allow: 'GET, HEAD, OPTIONS' });
    tag ??= digestOf(new TextEncoder().encode(json)).then((digest) => `"${digest.slice(7, 39)}"`);
    const etag = await tag;
    const headers: HeaderFields = {
      ...cors,
      etag,
      'cache-control': `public, max-age=${Math.floor(maxAgeMs / 1000)}`,
      'x-content-type-options': 'nosniff',
    };
    if (names(incoming.header('if-none-match'), etag)) return incoming.reply(304, headers);
    incoming.reply(200, { ...headers, 'content-type': type }, method === 'HEAD' ? undefined : json);
  };
}

/** Whether `If-None-Match` names a tag. */
function names(header: string | undefined, etag: string): boolean {
  if (header === undefined || header.length > 4096) return false;
  return header.split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()));
}

// Schema of the draft, ServerCard.name; the namespace becomes a domain in the catalog.
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9.-]*\/[a-zA-Z0-9._-]+$/;

function problemsOf(options: ServerCardOptions): string[] {
  if (typeof options !== 'object' || options === null)
    return ['an object is needed, such as serverCard({ name: "com.example/weather" }).'];
  const { name, description, title, headers = [] } = options;
  const problems = [...optionMistakes('', options, optionTable)];
  if (typeof name !== 'string' || name.length > 200 || !NAME.test(name))
    problems.push('"name" must be a reversed domain, a slash and a name, such as "com.example/weather".');
  for (const [key, text] of Object.entries({ description, title }))
    if (text !== undefined && !isShort(text)) problems.push(`"${key}" must have 1 to 100 characters.`);
  for (const header of headers)
    for (const { key } of unknownKeys(header, headerTable))
      problems.push(
        `"${key}" of the header "${header.name}" is unknown. A card says which headers are needed, never their values.`,
      );
  return problems;
}

function isShort(text: unknown): text is string {
  return typeof text === 'string' && text !== '' && text.length <= 100;
}
