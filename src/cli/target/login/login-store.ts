// The tokens of logins, which the command keeps encrypted for all later commands.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileTokenStore } from '../../../adapters/node/oauth/file-token-store.js';
import { readTokens, type StoredTokens, tokensKey } from '../../../oauth/client/store/records.js';
import type { TokenStore } from '../../../oauth/client/store/token-store.js';
import { CommandError } from '../../command/failures.js';
import { loginFolder } from './login-folder.js';
import { serversOf, withServers } from './login-servers.js';

// The account that `oauth` keeps the tokens of users under.
const ACCOUNT = 'user';
const KEY_BYTES = 32;

/** The store. Its key is the variable FULLMCP_TOKEN_KEY, or a file that only the user can read. */
export function loginStore(): TokenStore {
  const folder = loginFolder();
  return withServers(fileTokenStore({ folder: join(folder, 'tokens'), key: () => readKey(folder) }), ACCOUNT);
}

/** Makes the folder and the key, so that a login does not begin whose tokens could not be kept. */
export async function prepareLoginStore(): Promise<void> {
  const folder = loginFolder();
  try {
    await mkdir(join(folder, 'tokens'), { recursive: true, mode: 0o700 });
    if (!process.env['FULLMCP_TOKEN_KEY'] && !existsSync(keyFile(folder))) await makeKey(folder);
    const store = loginStore();
    // Written and deleted again: a full or read-only disk is noticed only then.
    await store.set('probe', String(Date.now()));
    await store.delete('probe');
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError(
      'failed',
      `Tokens cannot be kept in ${folder} (${code ?? message}). Make it writable, or choose another folder with FULLMCP_HOME.`,
    );
  }
}

/** The servers that tokens are kept for, in the order of the logins. */
export function loginServers(): Promise<readonly string[]> {
  return serversOf(loginStore());
}

/** The tokens that are kept for a server. */
export async function keptTokens(server: string): Promise<StoredTokens | undefined> {
  return (await readTokens(loginStore(), tokensKey(server, ACCOUNT))).value;
}

function keyFile(folder: string): string {
  return join(folder, 'token-key');
}

/** Of several commands at the same time, one makes the key. The file is complete as soon as it has its name. */
async function makeKey(folder: string): Promise<void> {
  const temporary = join(folder, `token-key-${process.pid}-${randomBytes(6).toString('hex')}`);
  try {
    await writeFile(temporary, randomBytes(KEY_BYTES).toString('base64'), { flag: 'wx', mode: 0o600 });
    await link(temporary, keyFile(folder));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function readKey(folder: string): Promise<string> {
  const own = process.env['FULLMCP_TOKEN_KEY'];
  if (own) return own;
  const key = await readFile(keyFile(folder), 'utf8').catch(() => '');
  if (key.trim().length >= KEY_BYTES) return key.trim();
  throw new CommandError(
    'unauthorized',
    `${keyFile(folder)} is not the key of the tokens beside it. Delete the folder ${folder}, and log in again.`,
  );
}
