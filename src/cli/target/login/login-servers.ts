// The servers that there are logins for. The names of the files do not tell them, so that they are kept beside the tokens, encrypted as well.

import { tryParse } from '../../../jsonrpc/try-parse.js';
import { tokensKey } from '../../../oauth/client/store/records.js';
import type { TokenStore } from '../../../oauth/client/store/token-store.js';

const KEY = 'servers';
const MAX_SERVERS = 1000;
const MAX_ATTEMPTS = 20;

/** The servers that tokens were kept for, in the order of the logins. */
export async function serversOf(store: TokenStore): Promise<readonly string[]> {
  return parse(await store.get(KEY));
}

/** A store that notes the server of all tokens that it keeps for an account. */
export function withServers(store: TokenStore, account: string): TokenStore {
  const prefix = tokensKey('', account);
  const serverOf = (key: string): string | undefined =>
    key.startsWith(prefix) ? key.slice(prefix.length) : undefined;

  // A login that cannot be listed is a login all the same.
  async function note(change: (servers: readonly string[]) => readonly string[]): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const text = await store.get(KEY);
      const before = parse(text);
      const after = change(before);
      if (after.length === before.length) return;
      const json = JSON.stringify(after.slice(-MAX_SERVERS));
      if (await store.set(KEY, json, { expected: text ?? null })) return;
    }
  }

  return {
    ...store,
    async set(key, value, options) {
      const isSet = await store.set(key, value, options);
      const server = serverOf(key);
      if (isSet && server !== undefined)
        await note((all) => (all.includes(server) ? all : [...all, server])).catch(() => undefined);
      return isSet;
    },
    async delete(key) {
      await store.delete(key);
      const server = serverOf(key);
      if (server !== undefined)
        await note((all) => all.filter((each) => each !== server)).catch(() => undefined);
    },
  };
}

function parse(text: string | undefined): readonly string[] {
  const value = text === undefined ? undefined : tryParse(text);
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
