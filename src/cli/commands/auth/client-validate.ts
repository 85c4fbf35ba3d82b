import { readFile, stat } from 'node:fs/promises';
import { lazySafeFetch } from '../../../adapters/node/fetch/lazy-safe-fetch.js';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { MAX_DEPTH, parseStrictly, RefusedJson } from '../../../jsonrpc/parse.js';
import { fetchClientDocument, readClientDocument } from '../../../oauth/documents/cimd/client-document.js';
import { checkClientUrl } from '../../../oauth/documents/cimd/client-id.js';
import { DocumentError } from '../../../oauth/documents/document-error.js';
import type { Command } from '../../command/definition.js';
import { FoundError, usageError } from '../../command/failures.js';

// The size that the draft recommends, and that authorization servers may refuse to exceed.
const MAX_BYTES = 5 * 1024;

/** `fullmcp auth client validate`. */
export const clientValidate: Command = {
  usage: '<url | file>',
  details:
    'Checks the document that describes a client (Client ID Metadata Document) as authorization servers do: at its https URL, or in a file\nbefore you publish it. Exits with 1 if they would refuse it.',
  words: [1, 1],
  options: {},
  examples: [
    {
      line: 'fullmcp auth client validate https://app.example.com/mcp-client.json',
      says: 'The published document.',
    },
    { line: 'fullmcp auth client validate mcp-client.json', says: 'A file, for CI.' },
  ],
  json: '{ ok: boolean, source: string, problem?: string, clientId?: string, name?: string, redirectUris?: string[], authMethod?: string, cacheSeconds?: number }; ok is false if the exit code is 1',
  async run({ words: [source = ''], out, signal }) {
    const isUrl = /^https?:/i.test(source);
    const found = await (isUrl ? published(source, signal) : inFile(source)).catch((error: unknown) => {
      if (!(error instanceof DocumentError)) throw error;
      throw new FoundError(error.message, { ok: false, source, problem: error.message });
    });
    const { clientId, name, redirectUris, tokenEndpointAuthMethod: authMethod } = found.client;
    const cached = found.cacheMs === undefined ? {} : { cacheSeconds: found.cacheMs / 1000 };
    out.json({ ok: true, source, clientId, name, redirectUris, authMethod, ...cached });
    out.value(`${name}, ${clientId}`);
    for (const uri of redirectUris) out.value(`  ${uri}`);
    if (!out.isJson) out.note('Authorization servers accept this document.');
  },
};

interface CheckedDocument {
  readonly client: ReturnType<typeof readClientDocument>;
  /** How long authorization servers may cache it; undefined for a file. */
  readonly cacheMs?: number;
}

function published(url: string, signal: AbortSignal): Promise<CheckedDocument> {
  return fetchClientDocument(url, { fetch: lazySafeFetch({}), signal });
}

async function inFile(path: string): Promise<CheckedDocument> {
  const document = await readDocument(path);
  const clientId = typeof document['client_id'] === 'string' ? document['client_id'] : '';
  const client = readClientDocument(document, { clientId });
  checkClientUrl(clientId, 'mcp');
  return { client };
}

async function readDocument(path: string): Promise<JsonObject> {
  const { size } = await stat(path).catch(() => {
    throw usageError(`The file ${JSON.stringify(path)} cannot be read.`);
  });
  const mistake = (what: string): DocumentError =>
    new DocumentError(
      'client metadata document',
      'bad_document',
      `The client metadata document in ${path} ${what}.`,
    );
  if (size > MAX_BYTES) throw mistake(`has ${size} bytes, and authorization servers read ${MAX_BYTES}`);
  const value = parseStrictly(await readFile(path, 'utf8'), MAX_DEPTH);
  if (value instanceof RefusedJson || !isObject(value)) throw mistake('is not a JSON object');
  return value;
}
