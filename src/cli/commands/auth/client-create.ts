import { writeFileSync } from 'node:fs';
import { readClientDocument } from '../../../oauth/documents/cimd/client-document.js';
import { checkClientUrl } from '../../../oauth/documents/cimd/client-id.js';
import type { Command, Typed } from '../../command/definition.js';
import { CommandError, usageError } from '../../command/failures.js';
import { fileToWrite, SAVE_OPTIONS } from '../../results/save.js';

/** The address that a program on this computer is sent back to, with any port (RFC 8252). */
const OWN_REDIRECT = 'http://127.0.0.1/callback';

/** `fullmcp auth client create`. */
export const clientCreate: Command = {
  usage: '<url>',
  details:
    'Prints the JSON document that describes a client to authorization servers (Client ID Metadata Document), for the https URL at which you\nwill publish it: the URL is the id of the client. It is checked as authorization servers check it. Pass the URL to oauth() as\n`clientMetadataUrl`. The document is public and has no secrets.',
  words: [1, 1],
  options: {
    name: { type: 'string', value: 'name', help: 'the name of the client, which users see; required' },
    'redirect-uri': {
      type: 'string',
      multiple: true,
      value: 'uri',
      help: `an address that users are sent back to; default ${OWN_REDIRECT}`,
    },
    'client-uri': { type: 'string', value: 'url', help: 'the home page of the client' },
    'logo-uri': { type: 'string', value: 'url', help: 'the logo of the client' },
    scope: { type: 'string', multiple: true, value: 'scope', help: 'a scope that the client asks for' },
    ...SAVE_OPTIONS,
  },
  examples: [
    {
      line: 'fullmcp auth client create https://app.example.com/mcp-client.json --name "My app" -o mcp-client.json',
      says: 'The document of a program that people have on their computers.',
    },
    {
      line: 'fullmcp auth client create https://app.example.com/client.json --name "My app" --redirect-uri https://app.example.com/callback',
      says: 'The document of a web app.',
    },
  ],
  json: '{ ok: true, document: object, file?: string }',
  run: async (input) => {
    const file = fileToWrite(input);
    const document = documentOf(input);
    const text = `${JSON.stringify(document, undefined, 2)}\n`;
    if (file !== undefined) save(file, text, input.flag('force'));
    input.out.json({ ok: true, document, ...(file !== undefined && { file }) });
    if (file === undefined) input.out.value(text.trimEnd());
    else if (!input.out.isJson) input.out.note(`${file} is written. Publish it at ${document.client_id}`);
  },
};

interface ClientDocument {
  readonly client_id: string;
  readonly [member: string]: unknown;
}

function documentOf(input: Typed): ClientDocument {
  const [url = ''] = input.words;
  const name = input.text('name');
  if (!name) throw usageError('A client needs a name: --name "My app".');
  const redirects = input.texts('redirect-uri');
  const optional = {
    client_uri: input.text('client-uri'),
    logo_uri: input.text('logo-uri'),
    scope: input.texts('scope').join(' ') || undefined,
  };
  const document = {
    client_id: url,
    client_name: name,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    redirect_uris: redirects.length > 0 ? redirects : [OWN_REDIRECT],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  try {
    checkClientUrl(url, 'mcp');
    readClientDocument(document, { clientId: url });
  } catch (error) {
    throw usageError((error as Error).message);
  }
  return document;
}

function save(file: string, text: string, force: boolean): void {
  try {
    writeFileSync(file, text, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    throw new CommandError('failed', `${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}
