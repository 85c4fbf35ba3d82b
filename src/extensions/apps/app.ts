// The definition of an app: a page that shows the results of tools, as a resource of the server.

import type { JsonObject } from '../../jsonrpc/message.js';
import { unknownKeys } from '../../protocol/checks/known-keys.js';
import { type OptionTable, optionMistakes } from '../../protocol/checks/options.js';
import {
  APP_PERMISSIONS,
  APP_TYPE,
  type AppCsp,
  type AppPermission,
  CSP_KEYS,
  isAppUri,
  isCspOrigin,
} from '../../protocol/model/apps/app.js';
import type { AccessRule } from '../../server/define/access.js';
import { type Resource, type ResourceContext, resource } from '../../server/define/resource.js';

/** The largest page, in characters. */
const MAX_PAGE = 4_000_000;

/** The argument of `app()`. */
export interface AppDefinition extends AccessRule {
  /** The URI of the app, such as `ui://sales/chart`. */
  readonly uri: string;
  /**
   * The page: an HTML document, or a function that makes one for a caller. `appPage` makes one with the bridge in it; at most 4,000,000
   * characters.
   */
  readonly html: string | ((ctx: ResourceContext) => string | Promise<string>);
  /** The name that people see. Default: the URI. */
  readonly title?: string;
  /** The purpose of the app. */
  readonly description?: string;
  /** Tags, for the rules of the server's `access.tags`. */
  readonly tags?: readonly string[];
  /** The origins that the page needs. Default: none. */
  readonly csp?: AppCsp;
  /** The features of the browser that the page asks for. The host decides. Default: none. */
  readonly permissions?: readonly AppPermission[];
  /** The origin that the host gives to the page, in the form that the host wants. Default: the host chooses. */
  readonly domain?: string;
  /** Whether the host draws a border and a background. Default: the host decides. */
  readonly prefersBorder?: boolean;
  /** The time for which hosts may keep the page, in milliseconds. Default: 60 s for a string, 0 for a function. */
  readonly ttlMs?: number;
}

const definitionTable = {
  uri: 'any',
  html: 'any',
  title: 'string',
  description: 'string',
  tags: 'any',
  scopes: 'any',
  allow: 'any',
  csp: 'object',
  permissions: 'array',
  domain: 'string',
  prefersBorder: 'boolean',
  ttlMs: { is: 'count', min: 0 },
} as const satisfies OptionTable<AppDefinition>;

/** An app, for `withApp` and `apps`. */
export interface App {
  /** The URI of the app. */
  readonly uri: string;
  /** The resource that has the page. */
  readonly resource: Resource;
}

/**
 * Defines an app: a page that a host shows for the results of a tool. Throws a TypeError that lists all mistakes.
 *
 * @example
 * const chart = app({ uri: 'ui://sales/chart', html: appPage({ body: '<svg></svg>', script: '…' }) });
 */
export function app(definition: AppDefinition): App {
  const problems = problemsOf(definition);
  if (problems.length > 0)
    throw new TypeError(problems.map((problem) => `app(${definition?.uri ?? ''}): ${problem}`).join('\n'));
  const { uri, html, csp, permissions, domain, prefersBorder, ttlMs, ...described } = definition;
  const isStatic = typeof html === 'string';
  const isOpen = definition.scopes === undefined && definition.allow === undefined;
  const ui: JsonObject = {
    ...(csp !== undefined && { csp: csp as object as JsonObject }),
    ...(permissions !== undefined && {
      permissions: Object.fromEntries(permissions.map((each) => [each, {}])),
    }),
    ...(domain !== undefined && { domain }),
    ...(prefersBorder !== undefined && { prefersBorder }),
  };
  const meta = Object.keys(ui).length === 0 ? undefined : { ui };
  return {
    uri,
    resource: resource({
      ...described,
      mimeType: APP_TYPE,
      ttlMs: ttlMs ?? (isStatic ? 60_000 : 0),
      cacheScope: isStatic && isOpen ? 'public' : 'private',
      ...(meta && { meta }),
      async read(_values, ctx) {
        const text = isStatic ? html : await html(ctx);
        const problem = isStatic ? undefined : pageProblem(text);
        if (problem !== undefined) throw new TypeError(`The page of ${uri} cannot be sent: ${problem}`);
        // Hosts read the restrictions from the contents, which they get with the page.
        return { uri: ctx.uri, mimeType: APP_TYPE, text, ...(meta && { _meta: meta }) };
      },
    }),
  };
}

function problemsOf(definition: AppDefinition): string[] {
  if (typeof definition !== 'object' || definition === null)
    return ['an object is needed, such as app({ uri: "ui://sales/chart", html }).'];
  const { uri, html, csp = {}, permissions = [] } = definition;
  const problems = [...optionMistakes('', definition, definitionTable)];
  if (typeof uri !== 'string' || !isAppUri(uri) || /[{}]/.test(uri))
    problems.push('"uri" must begin with "ui://" and a name, such as "ui://sales/chart".');
  const problem = typeof html === 'function' ? undefined : pageProblem(html);
  if (problem !== undefined) problems.push(problem);
  for (const { key, hint } of unknownKeys(csp, Object.fromEntries(CSP_KEYS.map((name) => [name, true]))))
    problems.push(`"csp.${key}" is unknown. ${hint}`);
  for (const key of CSP_KEYS)
    for (const origin of csp[key] ?? [])
      if (!isCspOrigin(origin))
        problems.push(
          `"csp.${key}" has ${JSON.stringify(origin)}, which is not an origin such as "https://api.example.com" or "https://*.example.com".`,
        );
  for (const name of permissions)
    if (!Object.hasOwn(APP_PERMISSIONS, name))
      problems.push(`"permissions" has "${name}"; known are ${Object.keys(APP_PERMISSIONS).join(', ')}.`);
  return problems;
}

/** The mistake in a page; undefined if there is none. */
function pageProblem(html: unknown): string | undefined {
  if (typeof html !== 'string') return '"html" must be a string, or a function that returns one.';
  if (html.length > MAX_PAGE)
    return `the page has ${html.length} characters; at most ${MAX_PAGE} are allowed.`;
  return /^\s{0,100}<(?:!doctype html|html)[\s>]/i.test(html)
    ? undefined
    : 'the page must be a whole HTML document that begins with <!doctype html>. appPage({ … }) makes one.';
}
