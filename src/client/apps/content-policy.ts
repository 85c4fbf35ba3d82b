// The restrictions of a page: its content security policy and the features of the browser, from what the server declares.

import { isObject } from '../../jsonrpc/message.js';
import {
  APP_PERMISSIONS,
  type AppCsp,
  type AppPermission,
  CSP_KEYS,
  isCspOrigin,
} from '../../protocol/model/apps/app.js';

/** The most origins of a kind. */
const MAX_ORIGINS = 50;

/** The origins that a server declares, without everything that is not an origin. */
export function readCsp(declared: unknown): AppCsp {
  if (!isObject(declared)) return {};
  return Object.fromEntries(
    CSP_KEYS.flatMap((key) => {
      const origins = declared[key];
      const kept = Array.isArray(origins) ? origins.filter(isCspOrigin).slice(0, MAX_ORIGINS) : [];
      return kept.length > 0 ? [[key, kept]] : [];
    }),
  );
}

/** The features of the browser that a server asks for. */
export function readPermissions(declared: unknown): readonly AppPermission[] {
  const names = Object.keys(APP_PERMISSIONS) as AppPermission[];
  return isObject(declared) ? names.filter((name) => Object.hasOwn(declared, name)) : [];
}

/**
 * The content security policy of a page. It never has 'self': the page is shown without an origin, and 'self' could then mean that of the
 * host.
 */
function contentPolicy(csp: AppCsp): string {
  const { connectDomains = [], resourceDomains = [], frameDomains = [], baseUriDomains = [] } = csp;
  const from = (...sources: readonly string[]): string => (sources.length > 0 ? sources.join(' ') : "'none'");
  return [
    "default-src 'none'",
    `script-src ${from("'unsafe-inline'", ...resourceDomains)}`,
    `style-src ${from("'unsafe-inline'", ...resourceDomains)}`,
    `img-src ${from('data:', ...resourceDomains)}`,
    `media-src ${from('data:', ...resourceDomains)}`,
    `font-src ${from('data:', ...resourceDomains)}`,
    `connect-src ${from(...connectDomains)}`,
    `frame-src ${from(...frameDomains)}`,
    `base-uri ${from(...baseUriDomains)}`,
    "object-src 'none'",
    "form-action 'none'",
  ].join('; ');
}

/**
 * A page with its policy in front of everything else: an element that is read first cannot be undone by the page, and the browser merges
 * the `<html>` and `<head>` that follow.
 */
export function withPolicy(html: string, csp: AppCsp): string {
  return `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${contentPolicy(csp)}">${html}`;
}
