import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import process from 'node:process';
import type { TokenStore } from '../../../oauth/client/store/token-store.js';
import { McpError } from '../../../protocol/errors.js';
import { waitForLock } from '../files/file-lock.js';
import { Generations } from '../files/generations.js';

/** The options of `fileTokenStore`. */
export interface FileTokenStoreOptions {
  /** The folder for the files. It is created, readable only by its owner. */
  readonly folder: string;
  /**
   * The secret that the files are encrypted with: at least 32 random characters or bytes, or a function that reads it, such as
   * from a keychain; called once. Default: the environment variable FULLMCP_TOKEN_KEY.
   */
  readonly key?: TokenKey | (() => TokenKey | Promise<TokenKey>);
}

/** A secret to encrypt tokens with. */
export type TokenKey = string | Uint8Array;

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Makes a token store in a folder: encrypted files (AES-256-GCM) that only their owner can read. Processes may share it.
 * @example
 * ```ts
 * const store = fileTokenStore({ folder: `${homedir()}/.my-app/tokens`, key: () => keychain.read('my-app') });
 * const auth = oauth({ store });
 * ```
 */
export function fileTokenStore({ folder, key = fromEnvironment }: FileTokenStoreOptions): TokenStore {
  let cipher: Promise<Cipher> | undefined;
  const open = (): Promise<Cipher> => {
    cipher ??= openCipher(key);
    // A keychain that was locked may be open the next time.
    cipher.catch(() => {
      cipher = undefined;
    });
    return cipher;
  };
  const folderOf = (name: string): string =>
    join(folder, createHash('sha256').update(name).digest('hex').slice(0, 40));
  const valuesOf = (name: string): Generations => new Generations(folderOf(name), 'value');

  async function read(
    name: string,
  ): Promise<{ readonly number: number; readonly value: string | undefined }> {
    const { decrypt } = await open();
    const latest = await valuesOf(name).latest();
    if (latest === undefined) return { number: 0, value: undefined };
    return {
      number: latest.number,
      value: latest.content.length === 0 ? undefined : decrypt(name, latest.content),
    };
  }

  return {
    async get(name) {
      return (await read(name)).value;
    },
    async set(name, value, { expected } = {}) {
      const { encrypt } = await open();
      for (;;) {
        const current = await read(name);
        if (expected !== undefined && (current.value ?? null) !== expected) return false;
        if (await valuesOf(name).advance(current.number, encrypt(name, value))) return true;
      }
    },
    async delete(name) {
      for (;;) {
        const latest = await valuesOf(name).latest();
        if (latest === undefined || latest.content.length === 0) return;
        // An empty version instead of none: numbers must never start again, or an old write could be taken for a new one.
        if (await valuesOf(name).advance(latest.number, '')) return;
      }
    },
    async lock(name, { ms, signal }) {
      return (await waitForLock(folderOf(name), { name: 'lock', ms, signal })).release;
    },
  };
}

interface Cipher {
  readonly encrypt: (name: string, value: string) => Buffer;
  readonly decrypt: (name: string, content: Buffer) => string;
}

async function openCipher(option: NonNullable<FileTokenStoreOptions['key']>): Promise<Cipher> {
  const secret = typeof option === 'function' ? await option() : option;
  if (secret.length < 32) {
    throw new McpError(
      'invalid_request',
      'The key of the token store is too short: it needs at least 32 random characters, such as `openssl rand -base64 32` prints.',
    );
  }
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'fullmcp token store', 32));
  return {
    encrypt(name, value) {
      const iv = randomBytes(IV_BYTES);
      // The name is part of what is authenticated, so that files cannot be swapped.
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(name));
      const body = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.from([VERSION]), iv, cipher.getAuthTag(), body]);
    },
    decrypt(name, content) {
      try {
        if (content[0] !== VERSION) throw new Error('unknown version');
        const iv = content.subarray(1, 1 + IV_BYTES);
        const tag = content.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES);
        const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(name)).setAuthTag(tag);
        const body = content.subarray(1 + IV_BYTES + TAG_BYTES);
        return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
      } catch {
        throw new McpError(
          'unauthorized',
          'The stored tokens cannot be decrypted: the key is another one, or a file was changed. Use the right key, or delete the folder and log in again.',
        );
      }
    },
  };
}

function fromEnvironment(): string {
  const key = process.env['FULLMCP_TOKEN_KEY'];
  if (key) return key;
  throw new McpError(
    'invalid_request',
    'The token store needs a key to encrypt its files with. Pass one as `key`, or set FULLMCP_TOKEN_KEY to the output of `openssl rand -base64 32`.',
  );
}
