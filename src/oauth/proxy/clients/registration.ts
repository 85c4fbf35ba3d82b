import type { JsonObject } from '../../../jsonrpc/message.js';
import { visibleText } from '../../documents/visible-text.js';
import { OAuthError } from '../tokens/oauth-error.js';
import { randomToken } from '../tokens/random.js';
import type { Records } from '../tokens/records.js';
import type { ProxyClient } from './client.js';
import { redirectUriProblem } from './redirect-uris.js';

/** The limits of dynamic registration. */
export interface RegistrationLimits {
  /** The number of registrations in an hour, of all clients together. */
  readonly maxPerHour: number;
  /** How long a registration lasts without a login. */
  readonly unusedMs: number;
  /** How long a registration lasts after a login or a refresh. */
  readonly maxIdleMs: number;
  readonly schemes: readonly string[];
}

const HOUR_MS = 60 * 60 * 1000;
const MAX_REDIRECT_URIS = 10;
/** Of all redirect URIs together. A day of registrations must leave room in the store for everything else. */
const MAX_LENGTH = 2048;
const MAX_NAME = 200;

/** The clients that registered themselves (RFC 7591). Their number and their age are limited. All of them are public clients. */
export class Registrations {
  readonly #records: Records;
  readonly #limits: RegistrationLimits;

  constructor(records: Records, limits: RegistrationLimits) {
    this.#records = records;
    this.#limits = limits;
  }

  /** The client with this id; undefined if it did not register, or its registration has expired. */
  async find(id: string): Promise<ProxyClient | undefined> {
    const record = await this.#records.read('oauth-client', id);
    if (record === undefined) return undefined;
    const { name, redirectUris, mayRefresh } = record.value as unknown as StoredClient;
    return { id, kind: 'dynamic', name, redirectUris, mayRefresh, authentication: { method: 'none' } };
  }

  /** Extends the registration of a client that is in use. */
  async extend(id: string): Promise<void> {
    const { maxIdleMs } = this.#limits;
    const record = await this.#records.read('oauth-client', id);
    if (record === undefined) return;
    if (!record.isOld && (record.expiresInMs ?? maxIdleMs) > maxIdleMs / 2) return;
    const { value, version } = record;
    await this.#records.write([
      await this.#records.put('oauth-client', id, { value, if: { version }, ttlMs: maxIdleMs }),
    ]);
  }

  /** Registers a client. Returns the reply. */
  async register(request: JsonObject): Promise<JsonObject> {
    const stored = this.#read(request);
    await this.#count();
    const id = randomToken();
    const value = JSON.parse(JSON.stringify(stored)) as JsonObject;
    const put = await this.#records.put('oauth-client', id, {
      value,
      if: 'absent',
      ttlMs: this.#limits.unusedMs,
    });
    if (!(await this.#records.write([put])).ok)
      throw new OAuthError('server_error', 'Retry the registration.');
    const { application_type: type } = request;
    return {
      client_id: id,
      client_id_issued_at: Math.floor(Date.now() / 1000),
      redirect_uris: [...stored.redirectUris],
      grant_types: stored.mayRefresh ? ['authorization_code', 'refresh_token'] : ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...(stored.name !== undefined && { client_name: stored.name }),
      ...((type === 'native' || type === 'web') && { application_type: type }),
    };
  }

  #read(request: JsonObject): StoredClient {
    const {
      redirect_uris: uris,
      grant_types: grants,
      response_types: responses,
      client_name: name,
    } = request;
    if (!isStrings(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS)
      throw new OAuthError(
        'invalid_redirect_uri',
        `redirect_uris must be an array of 1 to ${MAX_REDIRECT_URIS} strings.`,
      );
    if (uris.reduce((length, uri) => length + uri.length, 0) > MAX_LENGTH)
      throw new OAuthError(
        'invalid_redirect_uri',
        `redirect_uris have more than ${MAX_LENGTH} characters together.`,
      );
    for (const uri of uris) {
      const problem = redirectUriProblem(uri, this.#limits.schemes);
      if (problem !== undefined) throw new OAuthError('invalid_redirect_uri', `A redirect URI ${problem}.`);
    }
    if (responses !== undefined && (!isStrings(responses) || !responses.includes('code')))
      throw new OAuthError('invalid_client_metadata', 'response_types must contain "code".');
    if (grants !== undefined && (!isStrings(grants) || !grants.includes('authorization_code')))
      throw new OAuthError('invalid_client_metadata', 'grant_types must contain "authorization_code".');
    if (name !== undefined && typeof name !== 'string')
      throw new OAuthError('invalid_client_metadata', 'client_name must be a string.');
    return {
      name: visibleText(name?.slice(0, MAX_NAME)),
      redirectUris: uris,
      // A client that does not say anything takes what it gets.
      mayRefresh: grants === undefined || (grants as string[]).includes('refresh_token'),
    };
  }

  async #count(): Promise<void> {
    const { maxPerHour } = this.#limits;
    const key = await this.#records.key('oauth-registrations', '');
    const counted = await this.#records.write([{ do: 'count', key, by: 1, max: maxPerHour, ttlMs: HOUR_MS }]);
    if (!counted.ok)
      throw new OAuthError(
        'temporarily_unavailable',
        'Too many clients have registered within an hour. Retry later, or use a client metadata document.',
      );
  }
}

interface StoredClient {
  readonly name: string | undefined;
  readonly redirectUris: readonly string[];
  readonly mayRefresh: boolean;
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
