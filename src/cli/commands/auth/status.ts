import { cleanLine } from '../../../tooling/clean.js';
import type { Command, Typed } from '../../command/definition.js';
import { FoundError } from '../../command/failures.js';
import { allLogins, describeLogin, loginState } from '../../target/login/login-state.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { loginTarget } from './login-target.js';

const MAX_LINE = 1000;

/** `fullmcp auth status`. */
export const status: Command = {
  usage: '[target]',
  details:
    'Shows the login that is kept for an address: who issued it, its scopes and its end, but never a token. It asks no server. Exits with 1 if\nyou are not logged in. Without a target, lists all logins that are kept.',
  words: [0, 1],
  options: TARGET_OPTIONS,
  examples: [
    { line: 'fullmcp auth status https://example.com/mcp', says: 'Whether you are logged in.' },
    { line: 'fullmcp auth status', says: 'All logins that are kept.' },
  ],
  json: '{ ok: boolean, server: string, loggedIn: boolean, issuer?: string, scopes?: string[], expiresAt?: string, canRefresh?: boolean }; ok is false if the exit code is 1. Without a target: { ok: true, logins: { server: string, loggedIn: boolean, issuer?: string, scopes?: string[], expiresAt?: string, canRefresh?: boolean, problem?: string }[] }; problem says why tokens cannot be read, and the values of a query are masked in server',
  async run(input) {
    if (input.words.length === 0 && !input.process) return listed(input);
    const { target, server } = await loginTarget(input);
    const state = await loginState(server);
    const answer = { ok: state.loggedIn, ...state };
    if (!state.loggedIn)
      throw new FoundError(
        state.issuer === undefined
          ? `You are not logged in to ${server}. Log in with: fullmcp auth login ${target.typed}`
          : `The login to ${server} has ended. Log in with: fullmcp auth login ${target.typed}`,
        answer,
      );
    input.out.json(answer);
    input.out.value(describeLogin(state));
  },
};

async function listed({ out }: Typed): Promise<void> {
  const logins = await allLogins();
  out.json({ ok: true, logins });
  if (out.isJson) return;
  for (const login of logins) out.value(cleanLine(describeLogin(login), MAX_LINE));
  if (logins.length === 0) out.note('No login is kept. Log in with: fullmcp auth login <url>');
}
