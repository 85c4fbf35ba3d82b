import type { JsonObject } from '../../../jsonrpc/message.js';
import { type OpenIdOptions, openId, type UpstreamOptions } from '../upstream/open-id.js';
import { identifyByIdToken } from '../upstream/open-id-user.js';
import type { UpstreamProvider } from '../upstream/provider.js';
import { checkPreset, siteOf } from './preset.js';

/** The options of `entra`. */
export interface EntraUpstreamOptions extends UpstreamOptions {
  /**
   * The id of the tenant, a GUID; or the accounts that Entra offers to users: `organizations` for the accounts of all companies,
   * `consumers` for personal accounts, `common` for both.
   */
  readonly tenant: string;
  /**
   * The tenants whose users may log in, for `organizations` and `common`: their ids, or `any`. There is no default, because accounts
   * of every company in the world would be accepted.
   */
  readonly tenants?: readonly string[] | 'any' | undefined;
  /**
   * The scopes to ask for besides `openid`, `profile`, `email` and `offline_access`. They must be of one API, with its name in front,
   * such as `api://11111111-2222-3333-4444-555555555555/files.read`; names alone are scopes of Microsoft Graph. Default: none.
   */
  readonly scopes?: readonly string[] | undefined;
  /** How the application authenticates, if not by its secret. Default: by its secret, in the body. */
  readonly authentication?: OpenIdOptions['authentication'];
  /** The URL of a national cloud, such as `https://login.microsoftonline.us`. Default: `https://login.microsoftonline.com`. */
  readonly authority?: string | undefined;
}

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const SEVERAL = ['common', 'organizations'];
/** The tenant of all personal accounts. */
const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad';

/**
 * Lets users log in with Microsoft Entra ID, also known as Azure Active Directory. Register an application in the portal, with
 * `<issuer>/callback` as a redirect URI of the platform "Web".
 *
 * - The tenant of the ID token is checked, and is part of the issuer of every user.
 * - The subject is `sub`, which is different for each application. The id of the user in the tenant is `claims.oid`.
 * - Users without a mailbox can set any address as their email address. It is there only if the ID token says that the owner of the
 *   domain has verified it: add the optional claim `xms_edov` to ID tokens in the portal.
 * @example
 * ```ts
 * const upstream = entra({ tenant: '11111111-2222-3333-4444-555555555555', clientId, clientSecret });
 * ```
 */
export function entra(options: EntraUpstreamOptions): UpstreamProvider {
  checkPreset('entra', options, { tenant: 'any', tenants: 'any', authority: 'any', authentication: 'any' });
  const {
    tenant: _,
    tenants,
    authority,
    scopes = [],
    authentication = 'client_secret_post',
    ...registration
  } = options;
  const site = siteOf('entra', 'authority', authority ?? 'https://login.microsoftonline.com');
  const tenant = tenantOf(options);
  const only = SEVERAL.includes(tenant) ? tenants : [tenant === 'consumers' ? CONSUMERS : tenant];
  const provider = openId({
    name: 'Microsoft',
    ...registration,
    authentication,
    issuer: `${site}/${tenant}/v2.0`,
    scopes: ['openid', 'profile', 'email', 'offline_access', ...scopes],
  });
  return {
    ...provider,
    // Its metadata names an issuer that nobody has ("{tenantid}"), and leaves PKCE out.
    endpoints: {
      authorization: `${site}/${tenant}/oauth2/v2.0/authorize`,
      token: `${site}/${tenant}/oauth2/v2.0/token`,
      jwks: `${site}/${tenant}/discovery/v2.0/keys`,
    },
    async identify(login, context) {
      const user = await identifyByIdToken(login, context, {
        issuer: (claims) => isOfItsTenant(claims, site),
      });
      const { email, xms_edov: isOwned } = user.claims ?? {};
      const isVerified = isOwned === true || isOwned === 1 || isOwned === '1' || isOwned === 'true';
      return { ...user, email: isVerified && typeof email === 'string' ? email : user.email };
    },
    accepts: ({ claims }) => only === 'any' || only?.includes(String(claims?.['tid'])) === true,
  };
}

/** Every tenant has an issuer of its own, and the same keys sign for all of them. */
function isOfItsTenant({ iss, tid }: Readonly<JsonObject>, site: string): boolean {
  return typeof tid === 'string' && GUID.test(tid) && iss === `${site}/${tid}/v2.0`;
}

function tenantOf({ tenant, tenants }: EntraUpstreamOptions): string {
  const id = String(tenant).toLowerCase();
  if (!GUID.test(id) && !SEVERAL.includes(id) && id !== 'consumers')
    throw new TypeError(
      'entra: `tenant` must be the id of a tenant (a GUID), `organizations`, `consumers` or `common`. ID tokens name their tenant by its id, so a domain cannot be compared with it.',
    );
  if (SEVERAL.includes(id) === (tenants === undefined))
    throw new TypeError(
      SEVERAL.includes(id)
        ? `entra: with the tenant \`${id}\`, \`tenants\` must name the tenants whose users may log in, or be "any".`
        : 'entra: `tenants` is for the tenants `organizations` and `common`.',
    );
  if (Array.isArray(tenants) && !tenants.every((one: unknown) => typeof one === 'string' && GUID.test(one)))
    throw new TypeError('entra: `tenants` must be the ids of tenants: GUIDs in lower case.');
  return id;
}
