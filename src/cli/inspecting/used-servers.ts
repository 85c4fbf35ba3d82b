// The servers that were inspected before: a small file of the user, without secrets.

import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Turns } from '../../async/turns.js';
import type { TargetSpec } from '../../inspector/contract/connection.js';
import { isObject } from '../../jsonrpc/message.js';
import { masked } from '../hosts/mask.js';

const MAX_SERVERS = 20;
const MAX_BYTES = 256 * 1024;
const MAX_TEXT = 2000;

export interface UsedServer {
  readonly id: string;
  /** The spec that connects to it again. It has neither a token nor headers nor variables. */
  readonly spec: Pick<TargetSpec, 'url' | 'command' | 'args' | 'cwd' | 'text' | 'as' | 'scopes'>;
  /** The URL or the command for people. */
  readonly address: string;
  readonly at: number;
  readonly failure?: string;
}

/** The list in a file. A file that is damaged counts as empty; one that cannot be written is not an error. */
export class UsedServers {
  readonly #file: string;
  readonly #writing = new Turns();

  constructor(file: string) {
    this.#file = file;
  }

  /** The latest one first. */
  async list(): Promise<readonly UsedServer[]> {
    await this.#writing.idle;
    return this.#read();
  }

  /** Remembers a server. One whose address or command has a secret in it is not remembered. */
  remember(spec: UsedServer['spec'], address: string, failure: string | undefined): Promise<void> {
    if (hasSecret(spec)) return Promise.resolve();
    const { url, command, args, cwd, text, as, scopes } = spec;
    const kept = JSON.parse(
      JSON.stringify({ url, command, args, cwd, text, as, scopes }),
    ) as UsedServer['spec'];
    const server: UsedServer = {
      id: idOf(kept),
      spec: kept,
      address: address.slice(0, MAX_TEXT),
      at: Date.now(),
      ...(failure !== undefined && { failure: failure.slice(0, MAX_TEXT) }),
    };
    return this.#change((servers) => [server, ...servers.filter(({ id }) => id !== server.id)]);
  }

  forget(id: string): Promise<void> {
    return this.#change((servers) => servers.filter((server) => server.id !== id));
  }

  #change(change: (servers: readonly UsedServer[]) => readonly UsedServer[]): Promise<void> {
    return this.#writing.take(async () => {
      const servers = change(await this.#read()).slice(0, MAX_SERVERS);
      await this.#write(servers).catch(() => undefined);
    });
  }

  async #read(): Promise<readonly UsedServer[]> {
    try {
      const text = await readFile(this.#file, 'utf8');
      const value: unknown = text.length > MAX_BYTES ? undefined : JSON.parse(text);
      const servers = isObject(value) && Array.isArray(value['servers']) ? value['servers'] : [];
      return servers.filter(isUsedServer).slice(0, MAX_SERVERS);
    } catch {
      return [];
    }
  }

  /** The file is complete as soon as it has its name. */
  async #write(servers: readonly UsedServer[]): Promise<void> {
    const temporary = `${this.#file}-${randomBytes(6).toString('hex')}`;
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    try {
      await writeFile(temporary, `${JSON.stringify({ servers }, undefined, 1)}\n`, {
        flag: 'wx',
        mode: 0o600,
      });
      await rename(temporary, this.#file);
    } finally {
      await rm(temporary, { force: true });
    }
  }
}

function idOf(spec: UsedServer['spec']): string {
  return `used-${createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 16)}`;
}

function hasSecret({ url, command, args = [], text, as = '' }: UsedServer['spec']): boolean {
  // The claims of a person are not kept in a file.
  if (as.trimStart().startsWith('{')) return true;
  const words = text === undefined ? args : text.split(/\s+/);
  const shown = masked({
    args: words,
    ...(url !== undefined && { url }),
    ...(command !== undefined && { command }),
  });
  return JSON.stringify([shown.args, shown.url]) !== JSON.stringify([words, url]);
}

function isUsedServer(value: unknown): value is UsedServer {
  if (!isObject(value) || !isObject(value['spec'])) return false;
  const { url, command, args, cwd, text, as, scopes } = value['spec'];
  const areTexts = [url, command, cwd, text, as].every((one) => one === undefined || typeof one === 'string');
  const areLists = [args, scopes].every(
    (list) =>
      list === undefined || (Array.isArray(list) && list.every((one: unknown) => typeof one === 'string')),
  );
  const isPlace = [url, command, text].some((one) => one !== undefined);
  return (
    areTexts &&
    areLists &&
    isPlace &&
    typeof value['id'] === 'string' &&
    typeof value['address'] === 'string' &&
    typeof value['at'] === 'number' &&
    (value['failure'] === undefined || typeof value['failure'] === 'string')
  );
}
