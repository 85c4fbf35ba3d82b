import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import type { ClientAuthentication } from '../../client/hops/authentication.js';
import type { IssuerExceptions } from '../../documents/authorization-server.js';
import { identifyByIdToken } from './open-id-user.js';
import type { UpstreamProvider } from './provider.js';

/** The options of every upstream provider: your registration there. */
export interface UpstreamOptions {
  /** The client id of your registration at the provider. */
  readonly clientId: string;
  /** The secret of your registration. Default: none. */
  readonly clientSecret?: string | undefined;
  /** The name of the provider on the pages that users see. Default: the name of the preset, or the host of the issuer. */
  readonly name?: string | undefined;
  /** The scopes to ask for. `openid` is always among them. Default: `openid`, `profile`, `email`. */
  readonly scopes?: readonly string[] | undefined;
  /** More parameters for the authorization endpoint, such as `prompt`. Default: none. */
  readonly authorizationParameters?: Readonly<Record<string, string>> | undefined;
}

/** The table of `UpstreamOptions`. */
export const upstreamTable = {
  clientId: 'any',
  clientSecret: 'any',
  name: 'string',
  scopes: 'strings',
  authorizationParameters: 'object',
} as const;

/** The options of `openId`. */
export interface OpenIdOptions extends UpstreamOptions {
  /** How your registration authenticates, if not by its secret. Default: by the metadata of the provider. */
  readonly authentication?: ClientAuthentication | string | undefined;
  /** The issuer, exactly as its metadata writes it. */
  readonly issuer: string;
  /**
   * Whether requests for authorization are sent to the provider first, and the browser gets only their name (RFC 9126). Default: if
   * the metadata of the provider requires it. Set it if only your registration requires it.
   */
  readonly pushedRequests?: boolean | undefined;
  /** The exceptions for metadata that breaks a rule. Default: none. */
  readonly exceptions?: IssuerExceptions | undefined;
}

const optionTable = {
  ...upstreamTable,
  issuer: 'any',
  authentication: ['object', 'string'],
  pushedRequests: 'boolean',
  exceptions: 'object',
} as const satisfies OptionTable<OpenIdOptions>;

/**
 * Makes an upstream provider from the discovery document of any OpenID provider. The user is identified by the ID token; an email
 * address that the ID token lacks comes from the userinfo endpoint.
 * @example
 * ```ts
 * const upstream = openId({ issuer: 'https://login.example.com', clientId, clientSecret });
 * ```
 */
export function openId(given: OpenIdOptions): UpstreamProvider {
  const options = readOptions('openId', given, optionTable);
  const { issuer, clientId, clientSecret, authentication, authorizationParameters, exceptions } = options;
  if (typeof issuer !== 'string' || !URL.canParse(issuer))
    throw new TypeError(
      'openId: `issuer` must be the URL of the provider, exactly as its metadata writes it.',
    );
  if (typeof clientId !== 'string' || clientId === '')
    throw new TypeError('openId: `clientId` must be the client id of your registration at the provider.');
  const { pushedRequests } = options;
  const { name = new URL(issuer).host, scopes = ['openid', 'profile', 'email'] } = options;
  const asked = [...new Set(['openid', ...scopes])];
  return {
    name,
    issuer,
    clientId,
    clientSecret,
    authentication,
    exceptions,
    authorizationParameters,
    pushedRequests,
    scopes: asked,
    identify: (login, context) =>
      identifyByIdToken(login, context, { wantsUserinfo: asked.includes('email') }),
  };
}
