import type { Command } from '../../command/definition.js';
import { FoundError } from '../../command/failures.js';
import { describeLogin, loginState } from '../../target/login/login-state.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { loginTarget } from './login-target.js';

/** `fullmcp auth status`. */
export const status: Command = {
  usage: '<target>',
  details:
    'Shows the login that is kept for an address: who issued it, its scopes and its end, but never a token. It asks no server. Exits with 1 if\nyou are not logged in.',
  words: [1, 1],
  options: TARGET_OPTIONS,
  examples: [{ line: 'fullmcp auth status https://example.com/mcp', says: 'Whether you are logged in.' }],
  json: '{ ok: boolean, server: string, loggedIn: boolean, issuer?: string, scopes?: string[], expiresAt?: string, canRefresh?: boolean }; ok is false if the exit code is 1',
  async run(input) {
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
