import { randomBytes } from 'node:crypto';
import { type Answer, type Asked, basicOf } from '../stand-ins/stand-in.js';
import { CLIENT_ID, CLIENT_SECRET } from './open-id.js';
import type { StandInTools, UpstreamRoutes } from './stand-in.js';

/** The differences between apps and users of GitHub. */
export interface GithubFacts {
  /** Whether the app is a GitHub App: tokens end, refresh tokens work once, and there are no scopes. */
  readonly isGithubApp?: boolean;
  /** Whether the app may read email addresses. */
  readonly readsEmail?: boolean;
  readonly emails?: readonly object[];
  /** Whether tokens are of another app. */
  readonly isForeign?: boolean;
  /** The id in the profile. */
  readonly profileId?: number;
  readonly expiresIn?: number;
  readonly site?: string;
  readonly api?: string;
}

export const EMAILS = [
  { email: 'old@example.com', primary: false, verified: true, visibility: null },
  { email: 'ann@example.com', primary: true, verified: true, visibility: 'private' },
];

/**
 * GitHub: errors with status 200 and names of their own, form-encoded replies unless JSON is asked for, scopes with commas, opaque
 * tokens without an end, no ID token, and an API that tells the owner of an app whether a token is one of the app.
 */
export function githubRoutes(facts: GithubFacts = {}): (tools: StandInTools) => UpstreamRoutes {
  const { site = 'https://github.com', api = 'https://api.github.com', isGithubApp = false } = facts;
  const { readsEmail = true, emails = EMAILS } = facts;
  return ({ issued }) => {
    const refreshTokens = new Set<string>();
    const user = { id: 583231, login: 'octocat', avatar_url: 'https://avatars.example/1', type: 'User' };
    const isKnown = ({ header }: Asked): boolean =>
      issued.tokens.has(header('authorization')?.replace('Bearer ', '') ?? '');
    const isApp = (asked: Asked): boolean => {
      const [id, secret] = (basicOf(asked) ?? '')
        .split(':')
        .map((one) => new URLSearchParams(`x=${one}`).get('x'));
      return id === CLIENT_ID && secret === CLIENT_SECRET;
    };
    const refuse = (error: string): Answer => ({
      status: 200,
      json: {
        error,
        error_description: 'Something was incorrect.',
        error_uri: 'https://docs.example/errors',
      },
    });

    function tokens(scope: string): Answer {
      const refreshToken = `ghr_${randomBytes(12).toString('hex')}`;
      refreshTokens.add(refreshToken);
      return {
        json: {
          access_token: issued.token(isGithubApp ? 'ghu_' : 'gho_'),
          scope: isGithubApp ? '' : scope.split(' ').sort().join(','),
          token_type: 'bearer',
          ...(isGithubApp && {
            expires_in: facts.expiresIn ?? 28_800,
            refresh_token: refreshToken,
            refresh_token_expires_in: 15_897_600,
          }),
        },
      };
    }

    return {
      [`GET ${site}/login/oauth/authorize`]: ({ query }) => issued.redirect(query),
      [`POST ${site}/login/oauth/access_token`]({ form, header }) {
        if (!header('accept')?.includes('application/json')) return { form: { error: 'not_asked_for_json' } };
        if (form.get('client_id') !== CLIENT_ID || form.get('client_secret') !== CLIENT_SECRET)
          return refuse('incorrect_client_credentials');
        if (form.get('grant_type') === 'refresh_token')
          return refreshTokens.delete(form.get('refresh_token') ?? '')
            ? tokens('')
            : refuse('bad_refresh_token');
        const query = issued.redeem(form);
        return query === undefined ? refuse('bad_verification_code') : tokens(query.get('scope') ?? '');
      },
      [`POST ${api}/applications/${CLIENT_ID}/token`](asked) {
        const { access_token: token } = JSON.parse(asked.body) as { access_token: string };
        const isOurs = isApp(asked) && issued.tokens.has(token) && facts.isForeign !== true;
        return isOurs ? { json: { token, user, app: { client_id: CLIENT_ID } } } : { status: 404, json: {} };
      },
      [`DELETE ${api}/applications/${CLIENT_ID}/token`](asked) {
        const { access_token: token } = JSON.parse(asked.body) as { access_token: string };
        return isApp(asked) && issued.tokens.delete(token) ? { status: 204 } : { status: 404, json: {} };
      },
      [`GET ${api}/user`]: (asked) =>
        isKnown(asked)
          ? { json: { ...user, id: facts.profileId ?? user.id, name: 'Mona', email: 'public@example.com' } }
          : { status: 401, json: { message: 'Bad credentials' } },
      [`GET ${api}/user/emails`]: (asked) =>
        isKnown(asked) && readsEmail
          ? { json: emails }
          : { status: 403, json: { message: 'Not accessible' } },
    };
  };
}
