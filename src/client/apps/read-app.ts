// Reads an app from its server, with its restrictions.

import { isObject } from '../../jsonrpc/message.js';
import { decodeBase64 } from '../../protocol/encoding/base64.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { type AppCsp, type AppPermission, isAppType, uiOf } from '../../protocol/model/apps/app.js';
import type { ListedTool } from '../../protocol/model/model.js';
import type { Client } from '../model/client.js';
import type { CallOptions } from '../model/options.js';
import { readCsp, readPermissions } from './content-policy.js';

/** The largest page that is shown, in characters. */
const MAX_PAGE = 8_000_000;

/** The functions of a client that apps use. */
export type AppClient = Pick<Client, 'tools' | 'callTool' | 'readResource'>;

/** An app as a server sends it: as untrustworthy as the server. */
export interface ReadApp {
  /** The URI of the app. */
  readonly uri: string;
  /** The page. Show it only in a sandbox, with a policy that allows no more than `csp`. */
  readonly html: string;
  /** The origins that the page asks for; others are left out. */
  readonly csp: AppCsp;
  /** The features of the browser that the page asks for. */
  readonly permissions: readonly AppPermission[];
  /** Whether the page wants a border; undefined if it does not say. */
  readonly prefersBorder: boolean | undefined;
  /** The origin that the page wants to be shown at; undefined if it does not say. */
  readonly domain: string | undefined;
}

/** Reads the app of a tool; undefined if the tool has none. Throws `bad_response` if the server sends something else. */
export async function readApp(
  client: Pick<AppClient, 'readResource'>,
  tool: ListedTool,
  options?: CallOptions,
): Promise<ReadApp | undefined> {
  const { uri } = uiOf(tool);
  if (uri === undefined) return undefined;
  const { contents } = await client.readResource(uri, options);
  const [only] = contents;
  const fail = (why: string): McpError =>
    new McpError('bad_response', `The app ${shorten(uri, 200)} cannot be shown: ${why}.`);
  if (contents.length !== 1 || only?.uri !== uri) throw fail('the server sent another resource');
  const { mimeType, text, blob, _meta } = only as {
    readonly mimeType?: unknown;
    readonly text?: unknown;
    readonly blob?: unknown;
    readonly _meta?: unknown;
  };
  if (!isAppType(mimeType)) throw fail('it does not have the media type of an app');
  const bytes = typeof blob === 'string' ? decodeBase64(blob) : undefined;
  const html = typeof text === 'string' ? text : bytes && new TextDecoder().decode(bytes);
  if (html === undefined) throw fail('the server sent neither text nor base64');
  if (html.length > MAX_PAGE) throw fail(`it has more than ${MAX_PAGE} characters`);
  const ui = isObject(_meta) && isObject(_meta['ui']) ? _meta['ui'] : {};
  const { csp, permissions, prefersBorder, domain } = ui;
  return {
    uri,
    html,
    csp: readCsp(csp),
    permissions: readPermissions(permissions),
    prefersBorder: typeof prefersBorder === 'boolean' ? prefersBorder : undefined,
    domain: typeof domain === 'string' && domain.length <= 253 ? domain : undefined,
  };
}
