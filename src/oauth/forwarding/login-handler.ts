import { principalOf, toAuth } from '../../protocol/caller.js';
import { type Cookies, createCookies } from '../proxy/endpoints/cookies.js';
import { html } from '../proxy/pages/html.js';
import { errorPage } from '../proxy/pages/message-pages.js';
import { pageReply } from '../proxy/pages/page.js';
import { isSameSecret } from '../proxy/tokens/random.js';
import type { UpstreamTokens } from '../proxy/upstream/provider.js';
import type { Upstream } from '../proxy/upstream/upstream.js';
import type { PendingLogins } from './pending-logins.js';
import type { UserTokensOptions } from './user-tokens-options.js';

// The two pages of a login: the one that the user is asked to open, and the one that the provider sends the browser back to.

export interface LoginHandlerParts {
  readonly logins: PendingLogins;
  readonly upstream: Upstream;
  readonly publicUrl: URL;
  readonly browserUser: UserTokensOptions['browserUser'];
  readonly save: (principal: string, tokens: UpstreamTokens) => Promise<void>;
  readonly log: NonNullable<UserTokensOptions['logger']>;
}

const COOKIE = 'login';
const COOKIE_S = 600;
const AGAIN = 'Go back to your program and try again there.';

/** Serves the pages of logins. */
export function loginHandler(parts: LoginHandlerParts): (request: Request) => Promise<Response> {
  const { logins, upstream, publicUrl, browserUser, save, log } = parts;
  const { name } = upstream.provider;
  let made: Promise<Cookies> | undefined;
  const cookies = (): Promise<Cookies> => {
    made ??= createCookies(publicUrl.href);
    return made;
  };

  /** Spec 2026-07-28, Elicitation, Phishing: the user who opens the URL must be the one whose call has asked for it. */
  async function strangerPage(request: Request, principal: string): Promise<Response | undefined> {
    const user = (await browserUser(request)) ?? undefined;
    if (user === undefined)
      return errorPage({
        status: 401,
        title: 'Log in here first',
        message: 'This page cannot tell who you are.',
        advice: 'Log in at this website, then open the link again.',
      });
    if (principalOf({ auth: toAuth(user, 'browserUser') }) === principal) return undefined;
    log('warning', 'A link for the login of one user was opened by another one. Nothing was stored.');
    return errorPage({
      status: 403,
      title: 'This link is not yours',
      message: `Somebody else was asked to log in at ${name}. With this link, your account there would become theirs.`,
      advice: 'If somebody sent it to you, do not trust them.',
    });
  }

  async function begin(request: Request, id: string): Promise<Response> {
    const pending = logins.at(id);
    if (pending === undefined) return overPage();
    const refusal = await strangerPage(request, pending.principal);
    if (refusal !== undefined) return refusal;
    const { secrets, browser } = logins.start(pending);
    const location = await upstream.authorizationUrl(secrets);
    return new Response(null, {
      status: 303,
      headers: {
        location,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'set-cookie': (await cookies()).print(COOKIE, browser, COOKIE_S),
      },
    });
  }

  async function finish(request: Request, parameters: URLSearchParams): Promise<Response> {
    const started = logins.take(parameters.get('state') ?? '');
    if (started === undefined) return overPage();
    const { pending, secrets, browser } = started;
    const sent = (await cookies()).read(request, COOKIE) ?? '';
    if (!(await isSameSecret(sent, browser))) return overPage();
    const refusal = await strangerPage(request, pending.principal);
    if (refusal !== undefined) return refusal;
    const { accessToken, refreshToken, expiresAt, scope } = await upstream.redeem(parameters, secrets);
    await save(pending.principal, { accessToken, refreshToken, expiresAt, scope });
    logins.finish(pending);
    return pageReply({
      title: 'You are logged in',
      body: html`<h1>You are logged in at ${name}</h1>
<p>Close this page and go back to your program.</p>`,
    });
  }

  return async function handler(request) {
    const { pathname, searchParams } = new URL(request.url);
    const isCallback = pathname === `${publicUrl.pathname}/callback`;
    if (request.method !== 'GET' || !(isCallback || pathname === publicUrl.pathname))
      return new Response('Not found', { status: 404 });
    try {
      return isCallback
        ? await finish(request, searchParams)
        : await begin(request, searchParams.get('login') ?? '');
    } catch (error) {
      log('warning', `A login at ${name} failed. ${error instanceof Error ? error.message : ''}`);
      return errorPage({
        status: 502,
        title: 'The login failed',
        message: `${name} did not log you in.`,
        advice: AGAIN,
      });
    }
  };
}

function overPage(): Promise<Response> {
  return errorPage({
    status: 400,
    title: 'This login is over',
    message: 'It was finished already, took too long, or began in another browser.',
    advice: AGAIN,
  });
}
