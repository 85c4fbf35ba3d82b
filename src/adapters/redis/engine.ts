// Redis as the parts of a cluster use it: runs scripts, and knows how keys are divided.

import type { RedisConnection, RedisConnector } from './client/connection.js';
import { RedisError } from './client/error.js';
import { RedisLink } from './client/link.js';
import type { ScriptCall } from './commands.js';
import type { Keyspace, Partition } from './keys.js';
import type { Script } from './write-script.js';

/** The use of Redis by one part of a cluster: by its store, its bus or its event log. */
export interface Access {
  readonly keyspace: Keyspace;
  /** Sends a command about one key. */
  send(command: readonly string[], options: { readonly key: string }): Promise<unknown>;
  run(script: Script, call: ScriptCall): Promise<unknown>;
  /** The partitions as sets that one script can use. */
  rounds(): Promise<readonly (readonly Partition[])[]>;
  /** Ends the use. The connection is closed when no part of the cluster uses it any more. */
  close(): void;
}

/** Runs commands and scripts. */
export class Engine {
  readonly keyspace: Keyspace;
  readonly #link: RedisLink;
  readonly #users = new Set<object>();
  /** Whether keys of two partitions can be used in one script: not in a cluster. */
  #isDivided = true;

  constructor(
    connector: RedisConnector,
    { keyspace, timeoutMs }: { readonly keyspace: Keyspace; readonly timeoutMs: number },
  ) {
    this.keyspace = keyspace;
    this.#link = new RedisLink(connector, { timeoutMs, prepare: (connection) => this.#prepare(connection) });
  }

  /** The access for one part of the cluster. */
  access(): Access {
    let isClosed = false;
    const user = {};
    const use = (): void => {
      if (isClosed) throw new RedisError('closed', 'The connection to Redis is closed.');
      this.#users.add(user);
    };
    return {
      keyspace: this.keyspace,
      send: async (command, options) => {
        use();
        return this.#link.send(command, options);
      },
      run: async (script, call) => {
        use();
        return this.#run(script, call);
      },
      rounds: async () => {
        use();
        return this.#rounds();
      },
      close: () => {
        isClosed = true;
        if (this.#users.delete(user) && this.#users.size === 0) this.#link.disconnect();
      },
    };
  }

  /** Connects, if necessary, and checks that Redis replies. */
  async ping(): Promise<void> {
    const key = this.keyspace.layout;
    await this.#link.send(['EXISTS', key], { key });
  }

  close(): void {
    this.#link.close();
  }

  /** Runs a script. Its source is sent only if Redis does not know it: after a start, a failover or SCRIPT FLUSH. */
  async #run({ source, sha1 }: Script, { keys, args }: ScriptCall): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args];
    const options = { key: keys[0] as string };
    try {
      return await this.#link.send(['EVALSHA', sha1, ...rest], options);
    } catch (error) {
      if (!(error instanceof RedisError && error.reply === 'NOSCRIPT')) throw error;
      return this.#link.send(['EVAL', source, ...rest], options);
    }
  }

  /**
   * The partitions as sets that one script can use: all of them, or in a cluster one after the other, beginning with a random one
   * so that no partition always comes last.
   */
  async #rounds(): Promise<readonly (readonly Partition[])[]> {
    const { partitions } = this.keyspace;
    // Whether it is a cluster is known once there is a connection.
    await this.#link.ready();
    if (!this.#isDivided) return [partitions];
    const first = Math.floor(Math.random() * partitions.length);
    return [...partitions.slice(first), ...partitions.slice(0, first)].map((one) => [one]);
  }

  // With every connection: another server may have taken the place of the one before.
  async #prepare(connection: Pick<RedisConnection, 'send'>): Promise<void> {
    const key = this.keyspace.layout;
    const count = String(this.keyspace.partitions.length);
    let stored = await connection.send(['GET', key], { key });
    if (stored === null) {
      await connection.send(['SET', key, count, 'NX'], { key });
      stored = await connection.send(['GET', key], { key });
    }
    if (stored !== count)
      throw new RedisError(
        'refused',
        `Redis has data in ${stored} partitions under the prefix "${this.keyspace.prefix}", but the option "partitions" is ${count}. Use the same number in all processes, or another prefix.`,
      );
    this.#isDivided = await this.#isCluster(connection);
  }

  async #isCluster(connection: Pick<RedisConnection, 'send'>): Promise<boolean> {
    const [first, second] = this.keyspace.partitions;
    if (first === undefined || second === undefined) return false;
    const keys = [first.counter, second.counter];
    try {
      await connection.send(['EVAL', 'return 1', '2', ...keys], { key: first.counter });
      return false;
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('CROSSSLOT')) return true;
      throw error;
    }
  }
}
