import { randomBytes } from 'node:crypto';
import type { Answer, Asked } from '../stand-ins/stand-in.js';
import { CLIENT_ID, isAuthenticated } from './open-id.js';
import type { StandInTools, UpstreamRoutes } from './stand-in.js';

export interface DiscordFacts {
  readonly user?: Readonly<Record<string, unknown>>;
  /** The application that tokens belong to. */
  readonly application?: string;
  /** The user of `/oauth2/@me`. */
  readonly owner?: string;
  readonly expiresIn?: number;
}

const API = 'https://discord.com/api';

/** Discord: opaque tokens, no ID token, the email address only for the scope `email`, and an endpoint that names the application. */
export function discordRoutes(facts: DiscordFacts = {}): (tools: StandInTools) => UpstreamRoutes {
  const { application = CLIENT_ID, owner = '268473310986240001' } = facts;
  return ({ issued }) => {
    const refreshTokens = new Map<string, string>();
    const user = { id: '268473310986240001', username: 'discord', global_name: 'Discord', ...facts.user };
    const mail = { email: 'ann@example.com', verified: true, ...facts.user };
    const scopes = new Map<string, string>();
    const tokenOf = ({ header }: Asked): string => header('authorization')?.replace('Bearer ', '') ?? '';
    const withToken = (asked: Asked, json: (scope: string) => object): Answer =>
      issued.tokens.has(tokenOf(asked))
        ? { json: json(scopes.get(tokenOf(asked)) ?? '') }
        : { status: 401, json: { message: '401: Unauthorized', code: 0 } };

    function tokens(scope: string): Answer {
      const token = issued.token();
      const refreshToken = randomBytes(12).toString('hex');
      scopes.set(token, scope);
      refreshTokens.set(refreshToken, scope);
      const expires_in = facts.expiresIn ?? 604_800;
      return {
        json: { access_token: token, token_type: 'Bearer', expires_in, refresh_token: refreshToken, scope },
      };
    }

    return {
      'GET https://discord.com/oauth2/authorize': ({ query }) =>
        issued.redirect(query, { iss: 'https://discord.com' }),
      [`POST ${API}/oauth2/token`](asked) {
        const { form } = asked;
        if (!isAuthenticated(asked, 'basic')) return { status: 401, json: { error: 'invalid_client' } };
        if (form.get('grant_type') === 'refresh_token') {
          const scope = refreshTokens.get(form.get('refresh_token') ?? '');
          refreshTokens.delete(form.get('refresh_token') ?? '');
          return scope === undefined ? { status: 400, json: { error: 'invalid_grant' } } : tokens(scope);
        }
        const query = issued.redeem(form);
        return query === undefined
          ? { status: 400, json: { error: 'invalid_grant' } }
          : tokens(query.get('scope') ?? '');
      },
      [`POST ${API}/oauth2/token/revoke`]: (asked) =>
        isAuthenticated(asked, 'basic') ? { json: {} } : { status: 401, json: { error: 'invalid_client' } },
      [`GET ${API}/oauth2/@me`]: (asked) =>
        withToken(asked, (scope) => ({
          application: { id: application, name: 'Test' },
          scopes: scope.split(' '),
          expires: '2030-01-01T00:00:00.000000+00:00',
          user: { id: owner, username: 'discord' },
        })),
      [`GET ${API}/users/@me`]: (asked) =>
        withToken(asked, (scope) => ({ ...user, ...(scope.split(' ').includes('email') && mail) })),
    };
  };
}
