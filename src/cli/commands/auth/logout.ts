import { oauth } from '../../../oauth.js';
import type { Command } from '../../command/definition.js';
import { hasLogins } from '../../target/login/login-folder.js';
import { keptTokens, loginStore } from '../../target/login/login-store.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { loginTarget } from './login-target.js';

/** `fullmcp auth logout`. */
export const logout: Command = {
  usage: '<target>',
  details:
    'Deletes the tokens that are kept for an address, and revokes them where the authorization server supports that. If it cannot be reached,\nthe tokens are deleted anyway, and the exit code is 6.',
  words: [1, 1],
  options: TARGET_OPTIONS,
  examples: [
    { line: 'fullmcp auth logout https://example.com/mcp', says: 'Deletes and revokes the tokens.' },
  ],
  json: '{ ok: true, server: string, wasLoggedIn: boolean }',
  async run(input) {
    const { server } = await loginTarget(input);
    const wasLoggedIn = hasLogins() && (await keptTokens(server).catch(() => undefined)) !== undefined;
    if (hasLogins()) await oauth({ client: { name: 'fullmcp' }, store: loginStore() }).logout(server);
    input.out.json({ ok: true, server, wasLoggedIn });
    if (!input.out.isJson)
      input.out.note(wasLoggedIn ? `Logged out of ${server}.` : `You were not logged in to ${server}.`);
  },
};
