import { shorten } from '../../../protocol/encoding/shorten.js';
import type { ProxyClient } from '../clients/client.js';
import { type RedirectTarget, redirectTargetOf } from '../clients/redirect-uris.js';
import { type Html, html } from './html.js';
import { pageReply } from './page.js';

/** The facts that a user decides by. */
export interface ConsentFacts {
  readonly client: ProxyClient;
  readonly redirectUri: string;
  /** The scopes with their descriptions; a description may be empty. */
  readonly scopes: ReadonlyMap<string, string>;
  /** The name of this server. */
  readonly server: string;
  /** The host of this server. */
  readonly host: string;
  /** The name of the provider where the user logs in next. */
  readonly provider: string;
  /** The sealed request, which comes back with the decision. */
  readonly request: string;
  readonly cookies: readonly string[];
}

/** Long enough for a name, and too short for instructions that only look like ours. */
const MAX_NAME = 60;

/** The page that asks the user. Its text names the client, and where the client is sent. */
export function consentPage(facts: ConsentFacts): Promise<Response> {
  const { client, redirectUri, scopes, server, host, provider, request, cookies } = facts;
  const target = redirectTargetOf(redirectUri);
  const name = shorten(client.name ?? hostOf(client) ?? 'an application without a name', MAX_NAME);
  return pageReply({
    title: `Allow ${name} to use ${server}?`,
    cookies,
    body: html`<h1>Allow <bdi>${name}</bdi> to use <bdi>${server}</bdi>?</h1>
<p class="soft">It asks for access to <bdi>${host}</bdi> on your behalf.</p>
<dl>
<div><dt>Application</dt><dd><strong><bdi>${name}</bdi></strong>${originOf(client)}</dd></div>
<div><dt>Access is given to</dt><dd>${receiverOf(target)}</dd></div>
${scopes.size > 0 && html`<div><dt>It will be able to</dt><dd><ul>${[...scopes].map(scopeItem)}</ul></dd></div>`}
</dl>
${warningOf(target)}
<form method="post" action="consent">
<input type="hidden" name="request" value="${request}">
${
  target.kind === 'website' &&
  html`<p class="remember"><input type="checkbox" id="remember" name="remember" value="yes"><label for="remember">Do not ask again in this browser</label></p>`
}
<p class="actions"><button class="primary" name="decision" value="allow">Allow</button><button name="decision" value="deny">Cancel</button></p>
</form>
<p class="foot">Next, you log in at ${provider}. If you did not start this yourself, cancel.</p>`,
  });
}

function scopeItem([scope, description]: readonly [string, string]): Html {
  return description === ''
    ? html`<li><code>${scope}</code></li>`
    : html`<li>${description} <code class="soft">${scope}</code></li>`;
}

/** The sentence about the author of the name. */
function originOf(client: ProxyClient): Html {
  switch (client.kind) {
    case 'known':
      return html`<small>Registered by the operator of this server.</small>`;
    case 'document':
      return html`<small>Described by the website <bdi>${hostOf(client)}</bdi></small>`;
    case 'dynamic':
      return html`<small>It chose this name itself. Nobody has verified it.</small>`;
    default:
      return client.kind satisfies never;
  }
}

function hostOf({ kind, id }: ProxyClient): string | undefined {
  return kind === 'document' ? new URL(id).host : undefined;
}

function receiverOf({ kind, name }: RedirectTarget): Html {
  switch (kind) {
    case 'website':
      return html`The website <strong><bdi>${name}</bdi></strong>`;
    case 'computer':
      return html`<strong>An application on this computer</strong> <small>It listens at <bdi>${name}</bdi></small>`;
    case 'application':
      return html`<strong>An application on this device</strong> <small>It opens links that begin with <bdi>${name}:</bdi></small>`;
    default:
      return kind satisfies never;
  }
}

function warningOf({ kind }: RedirectTarget): Html | undefined {
  return kind === 'website'
    ? undefined
    : html`<p class="warn">Nothing proves which application this is. Allow it only if you have just started to log in from an application that you trust.</p>`;
}
