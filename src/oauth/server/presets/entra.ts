import type { JsonObject } from '../../../jsonrpc/message.js';
import { firstString, scopesOf } from '../tokens/claims.js';
import type { Preset, PresetOptions } from './preset.js';

/** The options of `entra`. */
export interface EntraOptions extends PresetOptions {
  /** The id of the tenant, a GUID. `common` and `organizations` are not the names of issuers. */
  readonly tenant: string;
  /** The client id of the app registration of this server, a GUID. */
  readonly clientId: string;
  /** The audience of tokens. Default: the client id (tokens of version 2) and `api://` with the client id (version 1). */
  readonly audience?: string | readonly string[] | undefined;
}

const HOST = 'https://login.microsoftonline.com';
const guid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Tokens of Microsoft Entra ID, of both versions. A scope `read` of a token counts as `read` and as `api://…/read`, which is the
 * form that clients must request. A token of an application without a user has its roles as scopes.
 */
export function entraPreset({ tenant, clientId, ...options }: EntraOptions): Preset {
  for (const [option, value] of Object.entries({ tenant, clientId })) {
    if (typeof value !== 'string' || !guid.test(value.toLowerCase()))
      throw new TypeError(
        `entra: \`${option}\` must be a GUID, as the portal shows it. Tokens name their tenant by its id, also where \`common\` or a domain is used to log in.`,
      );
  }
  const id = tenant.toLowerCase();
  const api = `api://${clientId}`;
  const jwksUri = `${HOST}/${id}/discovery/v2.0/keys`;
  return {
    options: {
      ...options,
      issuer: [
        { issuer: `${HOST}/${id}/v2.0`, jwksUri },
        // Tokens of version 1. Clients cannot log in at this name.
        { issuer: `https://sts.windows.net/${id}/`, jwksUri, isAdvertised: false },
      ],
      audience: options.audience ?? [clientId, api],
      claims: { clientId: ['azp', 'appid'], scopes: (claims) => entraScopes(claims, api) },
    },
    parts: { name: 'entra', refuse: (claims) => refuse(claims, id) },
  };
}

function entraScopes(claims: Readonly<JsonObject>, api: string): readonly string[] {
  const names = scopesOf(claims, Object.hasOwn(claims, 'scp') ? 'scp' : 'roles');
  return names.flatMap((name) => [name, `${api}/${name}`]);
}

/** An ID token for an app that is client and server at once has the same issuer, keys and audience, but no client. */
function refuse(claims: Readonly<JsonObject>, tenant: string): string | undefined {
  if (claims['tid'] !== tenant) return 'The token is of another tenant (tid).';
  return firstString(claims, ['azp', 'appid']) === undefined
    ? 'The token is an ID token: it names no client (azp, appid). Send the access token.'
    : undefined;
}
