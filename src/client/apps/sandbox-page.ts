// The page of a sandbox, which a host serves at an origin of its own.

import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { type AppCsp, isCspOrigin } from '../../protocol/model/apps/app.js';
import { RELAY } from './relay-text.js';

/** The options of `sandboxPage`. */
export interface SandboxPageOptions {
  /** The origins of the pages that may show apps in the sandbox, such as `https://chat.example.com`. */
  readonly hosts: readonly string[];
  /**
   * The origins that apps may embed or navigate to, if they declare them. Default: none, so that no app can send data away by leaving its
   * page.
   */
  readonly frames?: readonly string[];
  /**
   * The URL of the request for the page. With it, browsers that know `Connection-Allowlist` let the app connect only to the origins that it
   * declares, whichever way it tries, such as WebRTC. `showApp` names them in the URL.
   */
  readonly requestUrl?: string | URL;
}

const pageTable = {
  hosts: { is: 'strings', required: true },
  frames: { is: 'strings', default: [] },
  requestUrl: ['string', 'object'],
} as const satisfies OptionTable<SandboxPageOptions>;

/** A page to serve: its document and its headers. */
export interface SandboxPage {
  /** The HTML document. */
  readonly html: string;
  /** The headers of the reply. They are a part of the sandbox. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Makes the page that shows apps at an origin of its own, for the option `sandbox` of `showApp`. Serve it with its headers, at an origin that
 * serves nothing else.
 *
 * @example
 * app.get('/', ({ url }) => {
 *   const { html, headers } = sandboxPage({ hosts: ['https://chat.example.com'], requestUrl: url });
 *   return new Response(html, { headers });
 * });
 */
export function sandboxPage(options: SandboxPageOptions): SandboxPage {
  const { hosts, frames, requestUrl } = readOptions('sandboxPage', options, pageTable);
  const wrong = [...hosts, ...frames].find((origin) => !isCspOrigin(origin));
  if (wrong !== undefined || hosts.length === 0 || hosts.some((origin) => origin.includes('*')))
    throw new TypeError(
      `sandboxPage: "hosts" and "frames" must be origins such as "https://chat.example.com"${wrong === undefined ? '; "hosts" has at least one, without "*"' : `, not ${JSON.stringify(wrong)}`}.`,
    );
  const origins = requestUrl === undefined ? undefined : declaredIn(requestUrl);
  return {
    html: relayPage(hosts),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `frame-ancestors ${hosts.join(' ')}; ${framePolicy(frames)}`,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      // Redirects are left to the policy of the app, which knows the same origins.
      ...(origins && {
        'connection-allowlist': `(${origins.map((origin) => `"${origin}"`).join(' ')});redirects=allow`,
      }),
    },
  };
}

/** The parameter of the sandbox's URL that has the origins that the app declares. */
const ORIGINS = 'origins';
/** The most origins of a request. */
const MAX_ORIGINS = 200;
/** Servers refuse long URLs. An app that declares more does not reach the rest. */
const MAX_ORIGINS_LENGTH = 4000;

/** The address of a sandbox, for an app that declares these origins. */
export function sandboxUrl(sandbox: URL, csp: AppCsp): string {
  let origins = '';
  for (const origin of new Set(Object.values(csp).flat()))
    if (origins.length + origin.length < MAX_ORIGINS_LENGTH) origins += `${origins && ' '}${origin}`;
  const url = new URL(sandbox);
  url.searchParams.set(ORIGINS, origins);
  return url.href;
}

/** The origins in the URL of a request, which may be anything; undefined if the host does not name them. */
function declaredIn(requestUrl: string | URL): readonly string[] | undefined {
  const [, query = ''] = String(requestUrl).split(/[?#]/, 2);
  const origins = new URLSearchParams(query).get(ORIGINS);
  return origins?.split(' ').filter(isCspOrigin).slice(0, MAX_ORIGINS);
}

/** The document of a sandbox for hosts, with a policy of its own if it cannot have headers. */
export function relayPage(hosts: readonly string[], frames?: readonly string[]): string {
  const policy =
    frames === undefined
      ? ''
      : `<meta http-equiv="Content-Security-Policy" content="${framePolicy(frames)}">\n`;
  return `<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n${policy}<title>Sandbox</title>\n<style>html, body, iframe { display: block; margin: 0; width: 100%; height: 100%; border: 0 }</style>\n</head>\n<body>\n<script>${RELAY}relayApp(${JSON.stringify(hosts)})</script>\n</body>\n</html>\n`;
}

/** The policy of the document around an app, by which the browser also keeps the app from going elsewhere. */
function framePolicy(frames: readonly string[]): string {
  return `frame-src ${frames.length > 0 ? frames.join(' ') : "'none'"}`;
}
