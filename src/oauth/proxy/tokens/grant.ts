import type { JsonObject } from '../../../jsonrpc/message.js';
import type { UpstreamIdentity, UpstreamTokens } from '../upstream/provider.js';

/** A login that a user completed for a client. */
export interface LoginGrant {
  /** The id. It is not a secret: every token has one of its own. */
  readonly id: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly user: UpstreamIdentity;
  readonly upstream: UpstreamTokens;
  /** When the user logged in, in milliseconds since 1970. */
  readonly loggedInAt: number;
  /** When the provider last issued tokens for the login, in milliseconds since 1970. */
  readonly confirmedAt: number;
  /** Whether the client gets refresh tokens. */
  readonly mayRefresh: boolean;
  /** The code, by its digest, and the values that it is bound to. It stays after its use, to notice a second one. */
  readonly code: GrantCode;
  /** The number of the newest refresh token; undefined until the code is redeemed. */
  readonly generation: number | undefined;
}

/** The values that a code is bound to. */
interface GrantCode {
  readonly digest: string;
  readonly redirectUri: string;
  readonly challenge: string;
}

/** A grant as JSON, for the record. */
export function grantToJson({ id: _, ...grant }: LoginGrant): JsonObject {
  return JSON.parse(JSON.stringify(grant)) as JsonObject;
}

/** The grant of a record. Records are sealed, so that only the proxy can have written them. */
export function grantFromJson(id: string, json: JsonObject): LoginGrant {
  const { generation } = json;
  return {
    ...(json as unknown as LoginGrant),
    id,
    generation: typeof generation === 'number' ? generation : undefined,
  };
}
