import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

// Plays the part of GitHub on this computer: a page where users log in without a password, and the API for their tokens.

const users = [
  { id: 1, login: 'ada', name: 'Ada Lovelace', repositories: ['ada/engine', 'ada/notes'] },
  { id: 2, login: 'grace', name: 'Grace Hopper', repositories: ['grace/compiler'] },
];
const app = { clientId: 'stand-in', clientSecret: 'not-a-secret' };

/** The options of `github` for the stand-in. */
export interface StandInApp {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly url: string;
  readonly apiUrl: string;
}

export async function startStandIn(): Promise<StandInApp> {
  const logins = new Map<string, URLSearchParams>();
  const codes = new Map<string, { readonly user: number; readonly login: URLSearchParams }>();
  const tokens = new Map<string, number>();

  const routes: Readonly<Record<string, (asked: Asked) => Answer>> = {
    'GET /login/oauth/authorize'({ query }) {
      const id = randomUUID();
      logins.set(id, query);
      return { html: loginPage(id) };
    },
    'POST /login'({ form }) {
      const login = logins.get(form.get('id') ?? '');
      if (login === undefined) return { status: 400 };
      const code = randomUUID();
      codes.set(code, { user: Number(form.get('user')), login });
      return {
        location: `${login.get('redirect_uri')}?${new URLSearchParams({ code, state: login.get('state') ?? '' })}`,
      };
    },
    'POST /login/oauth/access_token'({ form }) {
      const code = form.get('code') ?? '';
      const found = codes.get(code);
      codes.delete(code);
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      // As GitHub does it: errors have the status 200.
      if (found === undefined || found.login.get('code_challenge') !== challenge)
        return { json: { error: 'bad_verification_code' } };
      const token = `gho_${randomUUID()}`;
      tokens.set(token, found.user);
      return { json: { access_token: token, token_type: 'bearer', scope: 'read:user,user:email' } };
    },
    [`POST /api/v3/applications/${app.clientId}/token`]({ body }) {
      const user = userOf(JSON.parse(body).access_token);
      return user === undefined ? { status: 404 } : { json: { user } };
    },
    [`DELETE /api/v3/applications/${app.clientId}/token`]: ({ body }) => ({
      status: tokens.delete(JSON.parse(body).access_token) ? 204 : 404,
    }),
    'GET /api/v3/user': ({ token }) => jsonFor(token, (user) => user),
    'GET /api/v3/user/emails': ({ token }) =>
      jsonFor(token, ({ login }) => [{ email: `${login}@example.com`, primary: true, verified: true }]),
    'GET /api/v3/user/repos': ({ token }) =>
      jsonFor(token, ({ repositories }) => repositories.map((full_name) => ({ full_name }))),
  };

  const userOf = (token: string) => users.find(({ id }) => id === tokens.get(token));
  const jsonFor = (token: string, facts: (user: (typeof users)[number]) => unknown): Answer => {
    const user = userOf(token);
    return user === undefined ? { status: 401 } : { json: facts(user) };
  };

  const http = createServer(async (request, response) => {
    const asked = await read(request);
    const answer = routes[`${request.method} ${asked.path}`]?.(asked) ?? { status: 404 };
    const { json, html, location, status = location === undefined ? 200 : 302 } = answer;
    response.writeHead(status, {
      'content-type': html === undefined ? 'application/json' : 'text/html; charset=utf-8',
      ...(location !== undefined && { location }),
    });
    response.end(html ?? (json === undefined ? undefined : JSON.stringify(json)));
  });
  // The program ends when its server does.
  http.listen(0, '127.0.0.1').unref();
  await once(http, 'listening');
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return { ...app, url, apiUrl: `${url}/api/v3` };
}

interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly body: string;
  readonly token: string;
}

interface Answer {
  readonly status?: number;
  readonly json?: unknown;
  readonly html?: string;
  readonly location?: string;
}

async function read(request: IncomingMessage): Promise<Asked> {
  const { pathname: path, searchParams: query } = new URL(request.url ?? '', 'http://127.0.0.1');
  let body = '';
  for await (const chunk of request) body += chunk;
  const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
  return { path, query, form: new URLSearchParams(body), body, token };
}

function loginPage(id: string): string {
  const buttons = users.map(
    ({ id: user, name }) => `<button name="user" value="${user}">Continue as ${name}</button>`,
  );
  return `<!doctype html><title>Not GitHub</title><h1>A stand-in for GitHub</h1>
<form method="post" action="/login"><input type="hidden" name="id" value="${id}">${buttons.join(' ')}</form>`;
}
