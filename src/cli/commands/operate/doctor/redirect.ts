// Redirects: clients follow few of them, and never to another origin.

import { type AddressKind, kindOfAddress } from '../../../../oauth/fetch/addresses.js';
import { isLoopbackUrl } from '../../../../oauth/fetch/check-url.js';
import { isPrivateName } from '../../../../oauth/fetch/names.js';
import type { Examination, ExaminedReply } from './exchange.js';
import { failed, type StepFinding } from './finding.js';

export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** Judges a redirect, which is not followed. */
export function examineRedirect({ url }: Examination, reply: ExaminedReply): StepFinding {
  const location = reply.header('location') ?? '';
  if (location === '' || !URL.canParse(location, url.href))
    return failed(
      'http',
      `${reply.status}: it redirects without an address.`,
      'Repair the redirect, or use the URL that it was meant for.',
    );
  const to = new URL(location, url.href);
  const address = `${to.origin}${to.pathname}`;
  if (placeOf(to) !== 'public' && placeOf(to) !== placeOf(url))
    return failed(
      'http',
      `${reply.status}: it redirects to ${address}, which is not a public address.`,
      'Do not use that URL. Repair the redirect: a proxy may not know the public name of the server.',
    );
  if (to.protocol === 'https:' && url.protocol === 'http:' && to.hostname === url.hostname)
    return failed('http', `${reply.status}: it redirects to https.`, `Use ${address}.`);
  return failed(
    'http',
    `${reply.status}: it redirects to ${address}.`,
    to.origin === url.origin
      ? `Use ${address}.`
      : `Clients do not send messages and tokens to another origin. If you trust it, use ${address}.`,
  );
}

/** Where a URL leads to, as far as it says so by itself. */
function placeOf(url: URL): AddressKind {
  if (isLoopbackUrl(url)) return 'loopback';
  return kindOfAddress(url.hostname) ?? (isPrivateName(url.hostname) ? 'private' : 'public');
}
