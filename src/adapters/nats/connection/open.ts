// Opens connections to NATS, with the client that is installed.

import { settlesWithin } from '../../../async/deadline.js';
import { NatsClient, NatsFailure } from './client.js';
import { loadTransport } from './load.js';
import type { NatsConnection, NatsTransport } from './nats-types.js';
import { type ConnectionSettings, type ResolvedConnection, resolveConnection } from './options.js';

/** A connection that is opened when it is first needed. After a failure, the next use tries again. */
export class NatsSource {
  readonly #resolved: ResolvedConnection;
  readonly #name: string;
  #client: Promise<NatsClient> | undefined;
  #isClosed = false;

  /** `name` is shown in the monitoring of NATS. Throws if the options are wrong. */
  constructor(options: ConnectionSettings, name: string) {
    this.#resolved = resolveConnection(options);
    this.#name = name;
  }

  /** The servers, for messages. */
  get servers(): string {
    return this.#resolved.address.servers.join(', ');
  }

  /** A new subject for answers, under the prefix that the options allow. */
  async newInbox(): Promise<string> {
    return (await loadTransport()).createInbox(this.#resolved.options.inboxPrefix);
  }

  /** The open connection. Rejects with the reason in a sentence if it cannot be opened in time. */
  get(): Promise<NatsClient> {
    if (this.#isClosed)
      return Promise.reject(new NatsFailure(`The connection to NATS at ${this.servers} is closed.`));
    this.#client ??= openClient(this.#resolved, this.#name).catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  /** Closes the connection, if it was opened. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const client = await this.#client?.catch(() => undefined);
    await client?.close();
  }
}

/** A server that is stopped, not closed, is noticed after this time times two. */
const PING_MS = 2000;

async function openClient(resolved: ResolvedConnection, name: string): Promise<NatsClient> {
  const { address, options, timeoutMs } = resolved;
  const servers = address.servers.join(', ');
  if (options.connection !== undefined)
    return new NatsClient(options.connection as NatsConnection, {
      servers: options.connection.getServer(),
      timeoutMs,
      isOwn: false,
    });
  const transport = await loadTransport();
  const opening = transport.connect(connectOptions(transport, resolved, name));
  // Each address has the time for itself.
  if (!(await settlesWithin(opening, timeoutMs * address.servers.length + 100))) {
    void opening.then((late) => late.close()).catch(() => undefined);
    throw new NatsFailure(`NATS at ${servers} did not answer within ${timeoutMs} ms.`);
  }
  let nc: NatsConnection;
  try {
    nc = await opening;
  } catch (error) {
    throw unreachable(servers, error);
  }
  return new NatsClient(nc, { servers, timeoutMs, isOwn: true });
}

function connectOptions(
  transport: NatsTransport,
  { address, options, timeoutMs }: ResolvedConnection,
  name: string,
): object {
  const { credentials, authenticator, tls = address.isTls ? {} : undefined } = options;
  const { token = address.token, user = address.user, pass = address.pass } = options;
  const chosen =
    credentials === undefined
      ? authenticator
      : transport.credsAuthenticator(new TextEncoder().encode(credentials));
  return {
    name,
    servers: [...address.servers],
    timeout: timeoutMs,
    ...(chosen !== undefined && { authenticator: chosen }),
    ...(token !== undefined && { token }),
    ...(user !== undefined && { user }),
    ...(pass !== undefined && { pass }),
    ...(tls !== undefined && { tls }),
    ...(options.inboxPrefix !== undefined && { inboxPrefix: options.inboxPrefix }),
    // The client reconnects by itself, however long the server is gone.
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 100,
    reconnectJitterTLS: 100,
    ignoreAuthErrorAbort: true,
    pingInterval: PING_MS,
    maxPingOut: 2,
    noAsyncTraces: true,
  };
}

function unreachable(servers: string, error: unknown): NatsFailure {
  const { name = '', message = String(error) } = error instanceof Error ? error : {};
  const why =
    name === 'AuthorizationError'
      ? `NATS at ${servers} rejected the credentials. Check \`credentials\`, \`token\`, \`user\` and \`pass\`.`
      : `NATS at ${servers} cannot be reached: ${message.replace(/\.$/, '')}. Check the address, and that nats-server is running.`;
  return new NatsFailure(why, { cause: error });
}
