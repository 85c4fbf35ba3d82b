// Serves a server as a NATS service.

import { hostname } from 'node:os';
import process from 'node:process';
import { settlesWithin } from '../../../async/deadline.js';
import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import type { DiscoverableServer, RegisteredService } from '../../../protocol/services.js';
import { refusalListenersOf } from '../../../state/refusal-listeners.js';
import { toolNames } from '../../../transports/memory/discovery.js';
import { RefusalReporter } from '../../../transports/server/refusal-reporter.js';
import { environmentSecrets } from '../../node/config/environment.js';
import { loadTransport } from '../connection/load.js';
import { NatsSource } from '../connection/open.js';
import { connectionTable } from '../connection/options.js';
import { isServiceName } from '../connection/subjects.js';
import { linkSubjects } from '../link/subjects.js';
import { answerMicro } from './micro.js';
import { type ServeNatsOptions, type ServiceSettings, serviceTable } from './options.js';
import { RequestStats } from './request-stats.js';
import { replySender } from './send-reply.js';
import { NatsService } from './service.js';

const optionTable = { ...connectionTable, ...serviceTable } as const satisfies OptionTable<ServeNatsOptions>;

/** A server as `serveNats` takes it: one that `createServer` returns, or anything that answers calls. */
export interface NatsServable extends DiscoverableServer {
  /** Prepares the server before the first request. */
  readonly start?: () => Promise<void>;
  /** Sets the secret, if the server has none. */
  readonly provideSecret?: (secret: readonly string[]) => void;
  /** Receives warnings, for the operator. */
  readonly logger?: (level: 'warning', message: string, detail?: unknown) => void;
}

/**
 * Serves a server over NATS. Any number of processes may serve one name: each request goes to one of them. Resolves when
 * requests arrive. Closing it does not close the server.
 * @example
 * ```ts
 * const serving = await serveNats(server, { url: 'nats://localhost:4222' });
 * process.once('SIGTERM', () => serving.close());
 * ```
 */
export async function serveNats(
  server: NatsServable,
  options: ServeNatsOptions = {},
): Promise<RegisteredService> {
  const read = readOptions('serveNats', options, optionTable);
  const source = new NatsSource(read, `fullmcp service ${read.service ?? server.info.name}`);
  try {
    const serving = await startService(server, source, read);
    const close = async (): Promise<void> => {
      await serving.close();
      await source.close();
    };
    return { ...serving, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** Serves a server over a connection that others may use, too. */
export async function startService(
  server: NatsServable,
  source: NatsSource,
  options: ServiceSettings,
): Promise<RegisteredService> {
  const { service = defaultName(server), prefix, auth, maxOpenCalls } = options;
  const { maxMessageBytes, keepAliveMs, drainMs } = options;
  const subjects = linkSubjects(service, prefix);
  const secret = environmentSecrets(process.env);
  if (secret !== undefined) server.provideSecret?.(secret);
  await server.start?.();
  const client = await source.get();
  const { headers: newHeaders } = await loadTransport();
  const id = newId();
  const stats = new RequestStats();
  const onProblem = (message: string, error: unknown): void => server.logger?.('warning', message, error);
  const send = replySender({ client, newHeaders, maxMessageBytes, onProblem });
  const { dispatch, info } = server;
  const listeners = refusalListenersOf(server);
  const log = server.logger ?? (() => undefined);
  const refused = auth === undefined ? undefined : new RefusalReporter({ server: info.name, log, listeners });
  const instance = new NatsService({
    client,
    id,
    subjects,
    newHeaders,
    dispatch,
    send,
    stats,
    auth,
    refused,
    maxOpenCalls,
    maxMessageBytes,
    keepAliveMs,
  });
  instance.start();
  const micro = answerMicro({
    client,
    id,
    subjects,
    version: info.version,
    title: info.title,
    description: info.description ?? '',
    node: `${hostname()}:${process.pid}`,
    startedAt: new Date().toISOString(),
    stats,
    tools: () => toolNames(server),
  });

  let closing: Promise<void> | undefined;
  function close(): Promise<void> {
    closing ??= (async () => {
      for (const subscription of micro) subscription.unsubscribe();
      await instance.close(drainMs);
      await refused?.close();
      await settlesWithin(client.flush(), client.timeoutMs);
    })();
    return closing;
  }

  const what = `The service "${service}" could not be started`;
  try {
    await client.persist(what, () => client.flush());
    if (instance.refusal !== undefined) throw client.failure(what, instance.refusal);
  } catch (error) {
    await close();
    throw error;
  }
  return { service, id, close, [Symbol.asyncDispose]: close };
}

function defaultName({ info: { name } }: DiscoverableServer): string {
  if (isServiceName(name)) return name;
  throw new TypeError(
    `The server's name ${JSON.stringify(name)} cannot be the name of a NATS service. Pass another in the option \`service\`: up to 64 letters, digits, "_" and "-".`,
  );
}

/** A random id that fits into a subject. */
function newId(): string {
  return crypto.randomUUID().replaceAll('-', '');
}
