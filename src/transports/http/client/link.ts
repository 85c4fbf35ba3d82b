import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../../protocol/call.js';
import { encodeHeaderValue } from '../../../protocol/encoding/header-value.js';
import { McpError } from '../../../protocol/errors.js';
import type { Link, LinkEvents, OpenOptions } from '../../../protocol/link.js';
import { type PrintedPeer, printPeer } from '../../../protocol/meta.js';
import type { Discovered } from '../../../protocol/model/model.js';
import { staysOpen } from '../../../protocol/standing-calls.js';
import { modernRevisions, mutual } from '../../../protocol/tables/features.js';
import { nameParam } from '../../../protocol/tables/methods.js';
import type { Revision } from '../../../protocol/tables/revisions.js';
import { limitReports } from '../../client/limit-reports.js';
import { printCall } from '../../client/print-call.js';
import type { HttpCarrier } from './carrier.js';
import type { HttpLinkOptions } from './options.js';
import { readResponse } from './read-response.js';
import { RequestScopes } from './request-scopes.js';
import { httpTarget } from './target.js';
import { ToolHeaders } from './tool-headers.js';

export type { HttpLinkOptions } from './options.js';

export interface HttpParts {
  readonly events: LinkEvents;
  readonly open: OpenOptions;
  readonly http: HttpLinkOptions;
  /** Closed with the link. Default: over `fetch`. */
  readonly carrier?: HttpCarrier | undefined;
  /** The server, if it is already known: then `server/discover` is not sent. */
  readonly known?: { readonly revision: Revision; readonly discovered: Discovered };
}

/** The limit of pages that are requested to find one tool. */
const MAX_PAGES = 100;

/**
 * Opens a link over Streamable HTTP of the modern revisions: each call is a request of its own. Rejects with
 * `unsupported_version` if the server does not support any of them.
 */
export async function openHttpLink(
  url: URL,
  { events, open, http, carrier, known }: HttpParts,
): Promise<Link> {
  const target = httpTarget(url, http, carrier);
  const requests = new RequestScopes();
  const problem = limitReports(events.problem);
  const tools = new ToolHeaders(events.problem);
  let revision = known?.revision ?? (modernRevisions[0] as Revision);
  let lastId = 0;
  let self: PrintedPeer | undefined;

  const dispatch: Dispatch = async function dispatchOverHttp(call) {
    try {
      return await attempt(call);
    } catch (error) {
      if (!McpError.is(error) || !(await correct(error, call))) throw error;
      return attempt(call);
    }
  };

  async function attempt(call: Call): Promise<Outcome> {
    const { method, params, peer, notify } = call;
    // Not the id of the call: each attempt of it, with answers or without, must have an id of its own (spec, multi round-trip requests).
    const id = ++lastId;
    self = printPeer(peer, revision, self);
    const printable = { method, params, self };
    const result = await requests.run(call, async (scope) => {
      const response = await target.send({
        headers: mirrorHeaders(method, params),
        body: printCall(id, printable),
        until: scope,
        lane: staysOpen(method) ? 'stream' : 'call',
      });
      return readResponse(response, { target, scope, listener: { id, onMessage, problem } });
    });
    // Spec 2026-07-28: a result without a type is complete.
    result['resultType'] ??= 'complete';
    return method === 'tools/list' ? tools.learn(result as Outcome) : (result as Outcome);

    function onMessage(message: { kind: string; method: string; params: JsonObject | undefined }): void {
      if (message.kind === 'notification') notify(message.method, message.params);
      else problem(`The server must not send requests in a stream: ${message.method} was ignored.`);
    }
  }

  function mirrorHeaders(method: string, params: JsonObject): Record<string, string> {
    const headers: Record<string, string> = {
      'MCP-Protocol-Version': revision,
      'Mcp-Method': encodeHeaderValue(method),
    };
    const param = nameParam(method);
    const name = param === undefined ? undefined : params[param];
    if (typeof name === 'string') headers['Mcp-Name'] = encodeHeaderValue(name);
    const toolHeaders = method === 'tools/call' ? tools.headers(params) : undefined;
    return toolHeaders === undefined ? headers : { ...headers, ...toolHeaders };
  }

  /** Learns from an error. Returns whether the request would now be sent differently. */
  async function correct({ code, number, data }: McpError, call: Call): Promise<boolean> {
    if (number === undefined) return false;
    if (code === 'unsupported_version') {
      const other = isObject(data) ? mutual(modernRevisions, data['supported']) : undefined;
      revision = other ?? revision;
      return other !== undefined;
    }
    // Spec 2026-07-28, Streamable HTTP, Client Behavior: the tool may have changed since it was listed.
    return code === 'header_mismatch' && call.method === 'tools/call' && isListed(call);
  }

  async function isListed({ params: { name }, ...call }: Call): Promise<boolean> {
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const { tools, nextCursor } = await attempt({
        ...call,
        method: 'tools/list',
        params,
        notify: () => {},
      });
      if (Array.isArray(tools) && tools.some((tool) => isObject(tool) && tool['name'] === name)) return true;
      if (typeof nextCursor !== 'string') break;
      cursor = nextCursor;
    }
    return false;
  }

  const discovered =
    known?.discovered ?? (await discover(dispatch, { ...open, revision, displayUrl: target.displayUrl }));
  return {
    dispatch,
    discovered,
    transport: 'http',
    get revision() {
      return revision;
    },
    async close() {
      requests.close(new McpError('connection_closed', `The connection to ${target.displayUrl} was closed.`));
      target.close();
    },
  };
}

interface DiscoverOptions extends OpenOptions {
  readonly revision: Revision;
  readonly displayUrl: string;
}

/**
 * Sends `server/discover`. Rejects with `unsupported_version` if the response is not that of a modern server. Spec 2026-07-28,
 * Streamable HTTP, Backward Compatibility.
 */
async function discover(dispatch: Dispatch, options: DiscoverOptions): Promise<Discovered> {
  const { signal, client, revision, displayUrl } = options;
  const peer = { ...client, revision, logLevel: undefined };
  // Some servers take a request with the id 0 for a notification.
  const call = { id: 1, method: 'server/discover', params: {}, peer, signal, notify: () => {} };
  const result = await dispatch(call).catch(async (error: unknown) => {
    throw (await import('./not-modern.js')).whyNotModern(displayUrl, error) ?? error;
  });
  const { supportedVersions, capabilities } = result;
  if (!isObject(capabilities) || mutual(modernRevisions, supportedVersions) === undefined) {
    throw (await import('./not-modern.js')).notModern(displayUrl, { supported: supportedVersions });
  }
  return result as unknown as Discovered;
}
