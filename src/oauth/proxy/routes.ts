import { authorize, consent, toOAuthError } from './endpoints/authorize.js';
import { callback } from './endpoints/callback.js';
import { errorReply, jsonReply, preflightReply } from './endpoints/http.js';
import type { Addresses, ProxyParts } from './endpoints/parts.js';
import { register } from './endpoints/register.js';
import { revoke, token } from './endpoints/token.js';
import { errorPage } from './pages/message-pages.js';
import type { OAuthError } from './tokens/oauth-error.js';

// The addresses of the proxy.

interface Endpoint {
  readonly methods: readonly string[];
  readonly run: (request: Request, parts: ProxyParts) => Response | Promise<Response>;
  /** Whether people see the replies. Programs get JSON, also from other origins. */
  readonly isPage: boolean;
}

const endpoints: Readonly<Record<string, Endpoint>> = {
  authorize: { methods: ['GET', 'POST'], run: authorize, isPage: true },
  consent: { methods: ['POST'], run: consent, isPage: true },
  callback: { methods: ['GET'], run: callback, isPage: true },
  token: { methods: ['POST'], run: token, isPage: false },
  register: { methods: ['POST'], run: register, isPage: false },
  revoke: { methods: ['POST'], run: revoke, isPage: false },
};
const metadata: Endpoint = {
  methods: ['GET'],
  run: (_, parts) => jsonReply(parts.metadata, 200, { 'cache-control': 'public, max-age=300' }),
  isPage: false,
};

/** The endpoint of an address, if it is one of ours. */
export type FindEndpoint = (pathname: string) => Endpoint | undefined;

/** Finds endpoints by their public path, and by the rest of it that a framework leaves which has removed its mount path. */
export function createRoutes({ base }: Addresses): FindEndpoint {
  const wellKnown = ['oauth-authorization-server', 'openid-configuration'];
  const paths = new Map<string, Endpoint>();
  for (const rest of basesWithin(base)) {
    for (const [name, endpoint] of Object.entries(endpoints)) paths.set(`${rest}/${name}`, endpoint);
    // OpenID Connect appends the well-known part to the path of the issuer, which is all that a mounted server can serve.
    for (const name of wellKnown) paths.set(`${rest}/.well-known/${name}`, metadata);
  }
  // RFC 8414 inserts it before the path.
  for (const name of wellKnown) paths.set(`/.well-known/${name}${base}`, metadata);
  return (pathname) => paths.get(pathname);
}

/** A path without its first parts: '/a/b', '/b' and ''. */
function basesWithin(base: string): readonly string[] {
  const parts = base.split('/').slice(1);
  const ends = parts.map((_, at) => `/${parts.slice(at).join('/')}`);
  return [...ends, ''];
}

/** Runs an endpoint. Every failure becomes a page or an OAuth error. */
export async function runEndpoint(
  endpoint: Endpoint,
  request: Request,
  parts: ProxyParts,
): Promise<Response> {
  const { methods, run, isPage } = endpoint;
  if (request.method === 'OPTIONS' && !isPage) return preflightReply();
  if (!methods.includes(request.method === 'HEAD' ? 'GET' : request.method))
    return new Response(null, { status: 405, headers: { allow: methods.join(', ') } });
  try {
    return await run(request, parts);
  } catch (error) {
    const known = toOAuthError(error, parts.log);
    return isPage ? problemPage(known) : errorReply(known);
  }
}

function problemPage({ code, message }: OAuthError): Promise<Response> {
  const isTemporary = code === 'temporarily_unavailable' || code === 'server_error';
  return errorPage({
    status: isTemporary ? 503 : 400,
    title: 'This login cannot continue',
    message,
    advice: isTemporary
      ? 'Go back to the application and start the login again in a moment.'
      : 'The application made a mistake, or the link was changed. Go back to the application and start the login again; if it fails again, tell its authors.',
  });
}
