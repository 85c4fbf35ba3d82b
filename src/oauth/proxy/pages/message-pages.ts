import { html } from './html.js';
import { pageReply } from './page.js';

/** A page that says why a login cannot continue. */
export function errorPage(options: {
  readonly status: number;
  readonly title: string;
  readonly message: string;
  readonly advice: string;
}): Promise<Response> {
  const { status, title, message, advice } = options;
  return pageReply({
    status,
    title,
    body: html`<h1>${title}</h1>
<p>${message}</p>
<p class="soft">${advice}</p>`,
  });
}

/**
 * A page that leads on. The reply to a form cannot redirect to another site: browsers apply `form-action` to the redirects, too.
 */
export function leavePage(options: {
  readonly to: string;
  readonly label: string;
  readonly cookies?: readonly string[];
}): Promise<Response> {
  const { to, label, cookies = [] } = options;
  return pageReply({
    title: label,
    next: to,
    cookies,
    body: html`<h1>${label}</h1>
<p class="soft">If nothing happens, use the link.</p>
<p class="actions"><a class="button primary" href="${to}">Continue</a></p>`,
  });
}

/** A page that only a click leads on from: the user has not agreed to go to this website. */
export function returnPage(options: {
  readonly title: string;
  readonly message: string;
  readonly to: string;
  /** The host of the website. */
  readonly host: string;
  readonly status?: number;
}): Promise<Response> {
  const { title, message, to, host, status = 200 } = options;
  return pageReply({
    title,
    status,
    body: html`<h1>${title}</h1>
<p>${message}</p>
<p class="soft">The login began at the website <bdi>${host}</bdi>. Go back there only if you know it.</p>
<p class="actions"><a class="button" href="${to}">Go back to <bdi>${host}</bdi></a></p>`,
  });
}
