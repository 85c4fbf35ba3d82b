import { hostOf, nameOf, type Preset, type PresetOptions } from './preset.js';

/** The options of `okta`. */
export interface OktaOptions extends PresetOptions {
  /** The domain of the organization, such as `example.okta.com`, or its own domain. */
  readonly domain: string;
  /**
   * The id of the custom authorization server. The tokens of the organization's own server are not made for other servers.
   * Default: `default`.
   */
  readonly authorizationServer?: string | undefined;
  /** The audience of the authorization server; each has one, such as `api://default`. */
  readonly audience: string | readonly string[];
}

/** Tokens of a custom authorization server of Okta: the scopes are an array (`scp`), and the client is `cid`. */
export function oktaPreset({ domain, authorizationServer = 'default', ...options }: OktaOptions): Preset {
  const id = nameOf('okta', 'authorizationServer', authorizationServer);
  return {
    options: {
      ...options,
      issuer: `https://${hostOf('okta', 'domain', domain)}/oauth2/${id}`,
      claims: { scopes: 'scp', clientId: 'cid' },
    },
    parts: { name: 'okta' },
  };
}
