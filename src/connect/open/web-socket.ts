// Opens a link over a WebSocket, with the class of the program, of the runtime, or of the package `ws`.

import { McpError } from '../../protocol/errors.js';
import type { ChallengeReply } from '../../protocol/model/client-auth.js';
import type { Wire } from '../../transports/client/wire.js';
import {
  answerChallenge,
  authorize,
  isChallenge,
  MAX_CHALLENGES,
} from '../../transports/http/client/authorized-send.js';
import { listNodeOptions } from '../../transports/http/client/options.js';
import { type HeaderRecord, userHeaders } from '../../transports/http/client/request-headers.js';
import { serverOf, withoutCredentials } from '../../transports/http/client/target.js';
import { type WebSocketConstructor, webSocketWire } from '../../transports/websocket/connect.js';
import type { ConnectOptions, Runtime } from '../targets/options.js';
import type { OpenAnyEra } from './eras.js';
import { pausing } from './pausing.js';
import { type OverWire, overWire } from './wire.js';

export interface OverWebSocket extends Omit<OverWire, 'transport'> {
  readonly http: ConnectOptions;
  readonly runtime: Runtime;
}

export function overWebSocket(url: URL, { http, runtime, ...over }: OverWebSocket): OpenAnyEra {
  const headers = userHeaders(url, http);
  const address = withoutCredentials(url);

  async function open(own: HeaderRecord, onRefused?: (reply: ChallengeReply) => void): Promise<Wire> {
    return webSocketWire(address.href, {
      WebSocket: await chooseClass({ ...(await headers()), ...own }, { http, runtime, onRefused }),
      ...(http.maxMessageBytes !== undefined && { maxMessageBytes: http.maxMessageBytes }),
    });
  }

  return async function openOverWebSocket(events, options) {
    const { auth } = pausing(http, events);
    if (typeof auth !== 'object')
      return overWire(() => open({}), { ...over, transport: 'websocket' })(events, options);
    for (let challenges = 0; ; challenges++) {
      let refused: ChallengeReply | undefined;
      const asked = { server: serverOf(address), method: 'GET', url: address, until: options, mayAsk: true };
      const request = await authorize(auth, asked);
      const makeWire = (): Promise<Wire> =>
        open(request.headers, (reply) => {
          refused = reply;
        });
      try {
        return await overWire(makeWire, { ...over, transport: 'websocket' })(events, options);
      } catch (error) {
        const reply = refused as ChallengeReply | undefined;
        if (reply === undefined || !isChallenge(reply) || options.signal.aborted) throw error;
        if (challenges >= MAX_CHALLENGES || (await answerChallenge(auth, reply, request)) === 'fail')
          throw await refusedError(over.target, reply);
      }
    }
  };
}

async function refusedError(target: string, { status, header }: ChallengeReply): Promise<McpError> {
  const challenge = header('www-authenticate');
  const { refusalReason } = await import('../../transports/http/client/refusal-reason.js');
  const reason = refusalReason({ challenge });
  return new McpError(
    status === 401 ? 'unauthorized' : 'forbidden',
    `${target} refused to open a WebSocket (${status})${reason === undefined ? '' : `: ${reason.replace(/\.$/, '')}`}. Check the credentials in \`auth\`.`,
    { status, data: { status, wwwAuthenticate: challenge, ...(reason !== undefined && { reason }) } },
  );
}

interface ClassParts extends Pick<OverWebSocket, 'http' | 'runtime'> {
  readonly onRefused: ((reply: ChallengeReply) => void) | undefined;
}

/** Chooses the class that opens the socket. A runtime's own does not accept headers. */
async function chooseClass(
  headers: HeaderRecord,
  { http, runtime, onRefused }: ClassParts,
): Promise<WebSocketConstructor> {
  const hasHeaders = Object.keys(headers).length > 0;
  const { ownWebSocket = runtime.webSocket === undefined } = runtime;
  const own = ownWebSocket ? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket : undefined;
  const candidate = http.WebSocket ?? own;
  const needNode = listNodeOptions(http);
  if (!hasHeaders && candidate !== undefined && needNode.length === 0) return candidate;
  if (http.WebSocket === undefined && runtime.webSocket !== undefined && !ownWebSocket)
    return runtime.webSocket(headers, http, onRefused);
  if (http.WebSocket === undefined && runtime.webSocket !== undefined && needNode.length === 0)
    return runtime.webSocket(headers, {}, onRefused);
  if (needNode.length > 0)
    throw new McpError(
      'invalid_request',
      `${needNode.join(', ')}: this needs the WebSocket that fullmcp opens on Node. Leave it out, or leave out \`WebSocket\`.`,
    );
  throw new McpError(
    'invalid_request',
    hasHeaders
      ? 'A WebSocket cannot send headers here. Leave out `auth` and `headers`, or connect over https://.'
      : 'This runtime has no WebSocket. Pass one in the option `WebSocket`.',
  );
}
