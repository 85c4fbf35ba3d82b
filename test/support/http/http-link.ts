import { expect } from 'vitest';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import type { Outcome } from '../../../src/protocol/call.js';
import { McpError } from '../../../src/protocol/errors.js';
import type { Link } from '../../../src/protocol/link.js';
import { type HttpLinkOptions, openHttpLink } from '../../../src/transports/http/client/link.js';
import { soon } from '../until.js';
import { type Reply, scriptedServer, stream } from './http-server.js';

// A link over HTTP to a server that does what a test says. Secrets must not show in any error.

export const discovered = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
export const SECRET = 's3cret-t0ken';

export interface OpenLink {
  readonly link: Link;
  readonly problems: string[];
}

export async function open(url: URL, http: HttpLinkOptions = {}, asks = false): Promise<OpenLink> {
  const problems: string[] = [];
  const link = await openHttpLink(url, {
    events: {
      notification: () => {},
      ask: () => Promise.reject(new Error('not expected')),
      problem: (message) => problems.push(message),
      lost: () => {},
    },
    open: {
      signal: new AbortController().signal,
      client: { client: { name: 'test', version: '1' }, capabilities: {} },
    },
    http,
    ...(!asks && { known: { revision: '2026-07-28', discovered } }),
  });
  return { link, problems };
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly notify?: (method: string, params?: JsonObject) => void;
}

export function call(
  link: Link,
  method: string,
  params: JsonObject = {},
  options: CallOptions = {},
): Promise<Outcome> {
  const peer = {
    revision: link.revision,
    client: { name: 'test', version: '1' },
    capabilities: {},
    logLevel: undefined,
  };
  return soon(
    method,
    link.dispatch({
      id: 0,
      method,
      params,
      peer,
      signal: options.signal ?? new AbortController().signal,
      notify: options.notify ?? (() => {}),
    }),
  );
}

export async function failure(promise: Promise<unknown>): Promise<McpError> {
  const error: unknown = await promise.then(
    () => new Error('It did not fail'),
    (reason: unknown) => reason,
  );
  if (!McpError.is(error)) throw error;
  expect(error.message).not.toContain(SECRET);
  expect(JSON.stringify(error.data) ?? '').not.toContain(SECRET);
  return error;
}

/** A call to a server that gives this response. */
export async function failing(reply: Reply, http: HttpLinkOptions = {}): Promise<McpError> {
  await using server = await scriptedServer(reply);
  const url = new URL(`${server.url}?key=${SECRET}`);
  const { link } = await open(url, { auth: SECRET, headers: { 'x-key': SECRET }, ...http });
  const error = await failure(call(link, 'tools/list'));
  await server.quiet();
  await link.close();
  return error;
}

export function text(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return (_, response) => response.writeHead(status, headers).end(body);
}

/** A stream that ends at once. */
export const empty: Reply = (_, response) => {
  stream(response);
  response.end();
};
