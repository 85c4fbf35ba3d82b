// The page of a sandbox, which a host serves at an origin of its own.

import { isCspOrigin } from '../../protocol/model/apps/app.js';
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
}

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
 * const { html, headers } = sandboxPage({ hosts: ['https://chat.example.com'] });
 * app.get('/', () => new Response(html, { headers }));
 */
export function sandboxPage({ hosts, frames = [] }: SandboxPageOptions): SandboxPage {
  const wrong = [...hosts, ...frames].find((origin) => !isCspOrigin(origin));
  if (wrong !== undefined || hosts.length === 0 || hosts.some((origin) => origin.includes('*')))
    throw new TypeError(
      `sandboxPage: "hosts" and "frames" must be origins such as "https://chat.example.com"${wrong === undefined ? '; "hosts" has at least one, without "*"' : `, not ${JSON.stringify(wrong)}`}.`,
    );
  return {
    html: relayPage(hosts),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `frame-ancestors ${hosts.join(' ')}; ${framePolicy(frames)}`,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  };
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
