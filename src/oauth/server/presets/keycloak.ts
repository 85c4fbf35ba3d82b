import type { JsonObject } from '../../../jsonrpc/message.js';
import { nameOf, type Preset, type PresetOptions } from './preset.js';

/** The options of `keycloak`. */
export interface KeycloakOptions extends PresetOptions {
  /** The URL of Keycloak as clients see it, such as `https://login.example.com`. It is part of the issuer of its tokens. */
  readonly url: string;
  /** The name of the realm. */
  readonly realm: string;
  /** The audience that an audience mapper of the realm puts into tokens. Without such a mapper, tokens are for no server. */
  readonly audience: string | readonly string[];
  /** The URL by which this server reaches Keycloak, if it is another one. Name its host in `privateHosts` if it uses http. */
  readonly internalUrl?: string | undefined;
  /** The hosts on private networks that may be asked for keys, besides those of the URLs. Default: none. */
  readonly privateHosts?: readonly string[] | undefined;
}

/** Tokens of Keycloak. The claim `typ` tells them from its other tokens, which the same keys sign. */
export function keycloakPreset({ url, realm, internalUrl, ...options }: KeycloakOptions): Preset {
  const path = `realms/${nameOf('keycloak', 'realm', realm)}`;
  const issuer = `${baseOf('url', url)}${path}`;
  const jwksUri =
    internalUrl === undefined
      ? undefined
      : `${baseOf('internalUrl', internalUrl)}${path}/protocol/openid-connect/certs`;
  return { options: { ...options, issuer: { issuer, jwksUri } }, parts: { name: 'keycloak', refuse } };
}

function refuse(claims: Readonly<JsonObject>): string | undefined {
  const { typ = 'Bearer' } = claims;
  return typ === 'Bearer' || typ === 'DPoP'
    ? undefined
    : 'The token is not an access token of Keycloak (typ). Send the access token.';
}

function baseOf(option: string, url: unknown): string {
  if (typeof url !== 'string' || !URL.canParse(url) || /[?#]/.test(url))
    throw new TypeError(`keycloak: \`${option}\` must be a URL, such as "https://login.example.com".`);
  return url.endsWith('/') ? url : `${url}/`;
}
