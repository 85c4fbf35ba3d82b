// The options of every HTTP handler, whatever the runtime.

import type { ForeignNames } from '../../../protocol/checks/known-keys.js';
import { checkOptions, type OptionTable } from '../../../protocol/checks/options.js';
import { type HttpOptions, httpTable } from '../../../transports/http/server/endpoint.js';
import { type SessionOptions, sessionOptionTable } from './sessions.js';

/** The options of a handler besides those of the endpoint and of sessions. */
export const ownTable = { sessions: 'boolean', auth: 'any' } as const;

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

const handlerTable = { ...httpTable, ...sessionOptionTable, ...ownTable } as const satisfies OptionTable<
  HttpOptions & SessionOptions & { readonly sessions?: boolean; readonly auth?: unknown }
>;

/** Checks the options of a handler. Their defaults are filled in where they are used. Throws a TypeError that names every mistake. */
export function checkHandlerOptions(of: string, options: object): void {
  checkOptions(of, options, handlerTable, foreignHandlerNames);
}
