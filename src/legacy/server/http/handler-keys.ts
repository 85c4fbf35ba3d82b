import type { ForeignNames, KeysOf } from '../../../protocol/checks/known-keys.js';
import type { HttpOptions } from '../../../transports/http/server/endpoint.js';
import type { SessionOptions } from './sessions.js';

/** Every option of an HTTP handler, whatever the runtime. */
export const handlerKeys: KeysOf<HttpOptions & SessionOptions & { sessions: unknown; auth: unknown }> = {
  sessions: true,
  auth: true,
  card: true,
  path: true,
  allowedHosts: true,
  allowedOrigins: true,
  publicUrl: true,
  maxBodyBytes: true,
  maxDepth: true,
  bodyTimeoutMs: true,
  writeTimeoutMs: true,
  requestTimeoutMs: true,
  trustProxy: true,
  keepAliveMs: true,
  maxAgeMs: true,
  maxBufferedBytes: true,
  secret: true,
  maxSessions: true,
  sessionIdleMs: true,
  sessionMaxAgeMs: true,
  retryMs: true,
  eventLog: true,
};

/** Common wrong names of the options, for hints in errors. */
export const foreignHandlerNames: ForeignNames = {
  timeout: 'requestTimeoutMs',
  timeoutMs: 'requestTimeoutMs',
  basePath: 'path',
  trustedProxies: 'trustProxy',
  proxies: 'trustProxy',
  endpoint: 'path',
  hosts: 'allowedHosts',
  origins: 'allowedOrigins',
  cors: 'allowedOrigins',
  serverCard: 'card',
};
