// Adds credentials to requests: those that the options give, for the security schemes that an operation names.

import { isObject } from '../../jsonrpc/message.js';
import { encodeBase64 } from '../../protocol/encoding/base64.js';
import { closestName } from '../../schema/explain/closest-name.js';
import type { Context } from '../../server/context/context.js';
import { ToolError } from '../../server/results/tool-error.js';
import { OpenAPIError } from '../document/openapi-error.js';
import {
  listOf,
  nameOf,
  type OpenAPIOperation,
  type Place,
  type ReadOperation,
  stringOf,
} from '../document/operations.js';
import type { DocumentReferences, Json } from '../document/references.js';
import type { DraftRequest } from '../request/build-request.js';
import { checkHeader, encodeText } from '../request/styles.js';

/** The value of a key or token, or the name and the password for the scheme `basic`. */
export type OpenAPICredential =
  | string
  | {
      /** The name of the user. */
      readonly username: string;
      /** The password of the user. */
      readonly password: string;
    };

/** Returns the credentials for a call; undefined if there are none for its caller. */
export type OpenAPICredentialSource = (
  ctx: Context,
  operation: OpenAPIOperation,
) => OpenAPICredential | undefined | Promise<OpenAPICredential | undefined>;

/** Credentials by the name of the security scheme. */
export type OpenAPICredentials = Readonly<Record<string, OpenAPICredential | OpenAPICredentialSource>>;

interface Scheme {
  readonly name: string;
  readonly raw: Json;
  readonly source: OpenAPICredential | OpenAPICredentialSource | undefined;
}

/** The security schemes of a document, with the credentials for some of them. */
export class Security {
  readonly #schemes = new Map<string, Scheme>();

  constructor(root: Json, references: DocumentReferences, credentials: OpenAPICredentials) {
    const components = isObject(root['components']) ? root['components'] : {};
    const schemes = isObject(components['securitySchemes']) ? components['securitySchemes'] : {};
    for (const [name, value] of Object.entries(schemes)) {
      const raw = references.object(value, `the security scheme ${name}`);
      this.#schemes.set(name, {
        name,
        raw,
        source: Object.hasOwn(credentials, name) ? credentials[name] : undefined,
      });
    }
    for (const name of Object.keys(credentials)) {
      if (this.#schemes.has(name)) continue;
      const names = [...this.#schemes.keys()];
      const closest = closestName(name, names);
      throw new OpenAPIError(
        `"credentials" names "${name}", but the document has no such security scheme. ${
          closest === undefined ? `It has: ${names.join(', ') || 'none'}.` : `Did you mean "${closest}"?`
        }`,
      );
    }
  }

  /** Whether credentials fill in a parameter of an operation, which some documents list a second time. */
  fills({ security }: ReadOperation, place: Place, name: string): boolean {
    return this.#alternatives(security).some((schemes) =>
      schemes.some(
        ({ raw, source }) =>
          source !== undefined && raw['type'] === 'apiKey' && raw['in'] === place && raw['name'] === name,
      ),
    );
  }

  /**
   * Adds the credentials for the first of the operation's alternatives that there are credentials for. Returns the secrets, to keep them
   * out of messages.
   */
  async authorize(operation: ReadOperation, request: DraftRequest, ctx: Context): Promise<readonly string[]> {
    const alternatives = this.#alternatives(operation.security);
    for (const schemes of alternatives.filter(({ length }) => length > 0)) {
      const found = await Promise.all(
        schemes.map(({ source }) => (typeof source === 'function' ? source(ctx, operation) : source)),
      );
      if (found.some((credential) => credential === undefined)) continue;
      return schemes.flatMap((scheme, at) => apply(scheme, found[at] as OpenAPICredential, request));
    }
    if (alternatives.length === 0 || alternatives.some(({ length }) => length === 0)) return [];
    const names = alternatives.map((schemes) => schemes.map(({ name }) => name).join(' and ')).join(', or ');
    throw new ToolError(
      `${nameOf(operation.method, operation.path)} needs credentials (${names}), and this server has none for this call.`,
    );
  }

  /** The alternatives of a requirement. One with a scheme that the document lacks, or that needs a certificate, cannot be met. */
  #alternatives(security: unknown): readonly (readonly Scheme[])[] {
    return listOf(security).map((requirement) =>
      Object.keys(isObject(requirement) ? requirement : {}).map(
        (name) => this.#schemes.get(schemeName(name)) ?? { name, raw: {}, source: undefined },
      ),
    );
  }
}

/** OpenAPI 3.2: a requirement may have the address of a scheme instead of its name. */
function schemeName(name: string): string {
  const prefix = '#/components/securitySchemes/';
  return name.startsWith(prefix)
    ? name.slice(prefix.length).replaceAll('~1', '/').replaceAll('~0', '~')
    : name;
}

function apply(
  { name, raw }: Scheme,
  credential: OpenAPICredential,
  request: DraftRequest,
): readonly string[] {
  const type = stringOf(raw['type']);
  const scheme = stringOf(raw['scheme'])?.toLowerCase();
  const text = typeof credential === 'string' ? credential : `${credential.username}:${credential.password}`;
  if (typeof text !== 'string' || text === '')
    throw new OpenAPIError(`The credentials for "${name}" must not be empty.`);
  if (type === 'apiKey') return applyKey(raw, text, request);
  if (type === 'http' && scheme === 'basic') {
    const encoded = encodeBase64(new TextEncoder().encode(text));
    request.headers.set('authorization', `Basic ${encoded}`);
    return [encoded, text.slice(text.indexOf(':') + 1)];
  }
  // The other schemes send a token: `bearer` itself, OAuth 2.0 and OpenID Connect.
  const prefix =
    type === 'http' && scheme !== undefined && scheme !== 'bearer' ? String(raw['scheme']) : 'Bearer';
  request.headers.set('authorization', checkCredential(name, `${prefix} ${text}`));
  return [text];
}

function applyKey(raw: Json, text: string, request: DraftRequest): readonly string[] {
  const name = String(raw['name']);
  if (raw['in'] === 'query') request.query.push(`${encodeText(name)}=${encodeText(text)}`);
  else if (raw['in'] === 'cookie') request.cookies.push(`${encodeText(name)}=${encodeText(text)}`);
  else request.headers.set(name.toLowerCase(), checkCredential(name, text));
  return [text];
}

/** The message must not have the value. */
function checkCredential(name: string, text: string): string {
  try {
    return checkHeader(name, text);
  } catch {
    throw new OpenAPIError(`The credentials for "${name}" have characters that a header cannot carry.`);
  }
}
