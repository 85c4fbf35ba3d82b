import { randomBytes } from 'node:crypto';
import { type Answer, type Asked, basicOf } from '../stand-ins/stand-in.js';
import type { StandInTools, UpstreamRoutes } from './stand-in.js';

// The parts that OpenID providers have in common. Each stand-in adds what is different.

/** The facts of a provider. */
export interface OpenIdFacts {
  readonly issuer: string;
  readonly authorization: string;
  readonly token: string;
  readonly jwks: string;
  readonly userinfo?: string;
  readonly revocation?: string;
  /** Where the metadata is. Default: nowhere. */
  readonly discovery?: string;
  /** More members of the metadata, or others; null removes one. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** How the proxy has to authenticate. */
  readonly method: 'post' | 'basic';
  /** The claims of ID tokens, besides those of the protocol. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Refuses a request for authorization: the name of the error. */
  readonly refuse?: (query: URLSearchParams) => string | undefined;
  /** More parameters of the redirect back. */
  readonly redirect?: Readonly<Record<string, string>>;
  /** Whether a login gets a refresh token. Default: always. */
  readonly issuesRefreshToken?: (query: URLSearchParams) => boolean;
  /** Whether a refresh token works once. Default: false. */
  readonly rotates?: boolean;
  /** The facts at the userinfo endpoint. */
  readonly user?: Readonly<Record<string, unknown>>;
  /** The lifetime of access tokens in seconds. Default: an hour. */
  readonly expiresIn?: number;
  /** More members of the token reply. */
  readonly reply?: Readonly<Record<string, unknown>>;
}

export const CLIENT_ID = 'the-client-id';
export const CLIENT_SECRET = 'the secret: of/the+client';

/** The routes of an OpenID provider. */
export function openIdRoutes({ issued, sign, jwks }: StandInTools, facts: OpenIdFacts): UpstreamRoutes {
  const { issuer, authorization, token, userinfo, revocation, discovery } = facts;
  const refreshTokens = new Map<string, URLSearchParams>();
  const fail = (error: string, status = 400): Answer => ({
    status,
    json: { error, error_description: 'Bad.' },
  });

  async function tokens(query: URLSearchParams, isRefresh: boolean): Promise<Answer> {
    const now = Math.floor(Date.now() / 1000);
    const id = { iss: issuer, aud: CLIENT_ID, sub: 'user-1', iat: now, exp: now + 3600, ...facts.claims };
    const nonce = query.get('nonce');
    const hasRefresh = facts.issuesRefreshToken?.(query) ?? true;
    const refreshToken = `refresh-${randomBytes(8).toString('hex')}`;
    const isNew = hasRefresh && (!isRefresh || facts.rotates === true);
    if (isNew) refreshTokens.set(refreshToken, query);
    return {
      json: {
        access_token: issued.token('opaque-'),
        token_type: 'Bearer',
        expires_in: facts.expiresIn ?? 3600,
        scope: query.get('scope'),
        ...(isNew && { refresh_token: refreshToken }),
        ...(query.get('scope')?.split(' ').includes('openid') && {
          id_token: await sign({ ...id, ...(nonce !== null && !isRefresh && { nonce }) }),
        }),
        ...facts.reply,
      },
    };
  }

  return {
    ...(discovery !== undefined && {
      [`GET ${discovery}`]: () => ({ json: metadataOf(facts) }),
    }),
    [`GET ${facts.jwks}`]: () => ({ json: jwks }),
    [`GET ${authorization}`]({ query }) {
      const error = facts.refuse?.(query);
      if (error === undefined) return issued.redirect(query, facts.redirect);
      const url = new URL(query.get('redirect_uri') ?? '');
      url.search = new URLSearchParams({
        error,
        state: query.get('state') ?? '',
        ...facts.redirect,
      }).toString();
      return { location: url.href };
    },
    async [`POST ${token}`](asked) {
      if (!isAuthenticated(asked, facts.method)) return fail('invalid_client', 401);
      const { form } = asked;
      if (form.get('grant_type') === 'refresh_token') {
        const used = form.get('refresh_token') ?? '';
        const query = refreshTokens.get(used);
        if (facts.rotates) refreshTokens.delete(used);
        return query === undefined ? fail('invalid_grant') : tokens(query, true);
      }
      const query = issued.redeem(form);
      return query === undefined ? fail('invalid_grant') : tokens(query, false);
    },
    ...(userinfo !== undefined && {
      [`GET ${userinfo}`]: ({ header }: Asked) =>
        issued.tokens.has(header('authorization')?.replace('Bearer ', '') ?? '')
          ? { json: { sub: 'user-1', ...facts.user } }
          : { status: 401, json: { error: 'invalid_token' } },
    }),
    ...(revocation !== undefined && {
      [`POST ${revocation}`]: (asked: Asked) => {
        refreshTokens.delete(asked.form.get('token') ?? '');
        return { status: 200, json: {} };
      },
    }),
  };
}

function metadataOf(facts: OpenIdFacts): object {
  const all = {
    issuer: facts.issuer,
    authorization_endpoint: facts.authorization,
    token_endpoint: facts.token,
    jwks_uri: facts.jwks,
    userinfo_endpoint: facts.userinfo ?? null,
    revocation_endpoint: facts.revocation ?? null,
    code_challenge_methods_supported: ['plain', 'S256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    ...facts.metadata,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

/** Whether a request carries the secret in the one way that the provider takes. */
export function isAuthenticated(asked: Asked, method: OpenIdFacts['method']): boolean {
  const { form, header } = asked;
  if (method === 'post')
    return (
      header('authorization') === undefined &&
      form.get('client_id') === CLIENT_ID &&
      form.get('client_secret') === CLIENT_SECRET
    );
  const [id = '', secret = ''] = (basicOf(asked) ?? '').split(':').map(fromForm);
  return id === CLIENT_ID && secret === CLIENT_SECRET && !form.has('client_secret');
}

function fromForm(text: string): string {
  return new URLSearchParams(`x=${text}`).get('x') ?? '';
}
