// CORS: which web pages may call the server.

import { shorten } from '../../../../protocol/encoding/shorten.js';
import type { Endpoint } from './endpoint.js';
import { type Examination, type ExaminedReply, send } from './exchange.js';
import { failed, ok, type StepFinding, warning } from './finding.js';
import { askModern } from './messages.js';

/** A page of nobody, which no server has a reason to allow by name. */
const STRANGER = 'https://page.example';
const ALWAYS_SENT = ['authorization', 'content-type', 'mcp-protocol-version'];
/** The headers that a client in a page sends besides, by the era of the server. */
const ALSO_SENT = {
  modern: ['mcp-method', 'mcp-name'],
  session: ['mcp-session-id'],
  'http+sse': [],
} as const;

export interface CallingPages {
  /** The origin of the page that must be able to call the server, if the user named one. */
  readonly origin: string | undefined;
  /** Whether the server asks for a token. */
  readonly isProtected: boolean;
}

/** Sends the requests of a browser. Without an origin, only a server that every page can use is a problem. */
export async function examineCors(
  at: Examination,
  endpoint: Endpoint,
  pages: CallingPages,
): Promise<StepFinding> {
  const { origin = STRANGER } = pages;
  const sent = [...ALWAYS_SENT, ...ALSO_SENT[endpoint.era ?? 'modern']];
  const preflight = await send(at, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': sent.join(','),
    },
  });
  const allows = allowsOrigin(preflight, origin);
  if (pages.origin === undefined) return judgeStranger(preflight, allows, pages.isProtected);
  if (!allows || preflight.status >= 400)
    return failed(
      'cors',
      `Pages of ${origin} may not call it: the preflight gets ${preflight.status} and ${shown(preflight)}.`,
      `Allow the origin ${origin}: allowedOrigins or MCP_ALLOWED_ORIGINS of a fullmcp server. A proxy must not answer OPTIONS by itself.`,
    );
  const missing = missingHeaders(preflight, sent);
  if (missing.length > 0)
    return failed(
      'cors',
      `Pages of ${origin} may not send ${missing.join(', ')}.`,
      `Add them to Access-Control-Allow-Headers: ${sent.join(', ')}. A * does not stand for authorization.`,
    );
  return examineReply(at, endpoint, origin);
}

/** The reply itself needs the headers too, even if it is a refusal. */
async function examineReply(
  at: Examination,
  { reply: seen }: Endpoint,
  origin: string,
): Promise<StepFinding> {
  const { reply } = await askModern(at, 'server/discover', {}, { headers: { origin } });
  if (!allowsOrigin(reply, origin))
    return failed(
      'cors',
      `Pages of ${origin} may send requests, but not read the reply (${reply.status}).`,
      'Send Access-Control-Allow-Origin with every reply, also with errors.',
    );
  const needed = [
    ...(reply.status === 401 ? ['www-authenticate'] : []),
    ...(seen.header('mcp-session-id') === undefined ? [] : ['mcp-session-id']),
  ];
  const exposed = listOf(reply.header('access-control-expose-headers'));
  const hidden = needed.filter((name) => !exposed.includes(name) && !exposed.includes('*'));
  return hidden.length > 0
    ? failed(
        'cors',
        `Pages of ${origin} may not read ${hidden.join(', ')}.`,
        'Name them in Access-Control-Expose-Headers.',
      )
    : ok('cors', `Pages of ${origin} may call it.`);
}

function judgeStranger(preflight: ExaminedReply, allows: boolean, isProtected: boolean): StepFinding {
  if (!allows)
    return ok('cors', 'Pages of other websites may not call it. To examine it for a page, add --origin.');
  return isProtected
    ? ok('cors', `Pages of every website may call it (${shown(preflight)}), with a token.`)
    : warning(
        'cors',
        `Pages of every website may call it (${shown(preflight)}), without a token.`,
        'Allow only the origins that need it, unless everything that it offers is public.',
      );
}

function allowsOrigin(reply: ExaminedReply, origin: string): boolean {
  const allowed = reply.header('access-control-allow-origin');
  return allowed === '*' || allowed === origin;
}

function shown(reply: ExaminedReply): string {
  const allowed = reply.header('access-control-allow-origin');
  return allowed === undefined
    ? 'no Access-Control-Allow-Origin'
    : `Access-Control-Allow-Origin: ${shorten(allowed, 100)}`;
}

function missingHeaders(preflight: ExaminedReply, sent: readonly string[]): readonly string[] {
  const allowed = listOf(preflight.header('access-control-allow-headers'));
  return sent.filter(
    (name) => !allowed.includes(name) && (name === 'authorization' || !allowed.includes('*')),
  );
}

function listOf(header: string | undefined): readonly string[] {
  return (header ?? '').split(',', 200).map((name) => name.trim().toLowerCase());
}
