// The names of targets in messages, their keys in caches, and their transports.

import type { TransportName } from '../../protocol/call.js';
import { processName } from '../../transports/client/process-name.js';
import type { ServerProcess } from '../../transports/stdio/client/spawn.js';
import type { OpenableTarget, ResolvedTarget } from './target.js';

/** The name of a target in messages, without anything that may be secret: passwords, queries, later arguments, values of options. */
export function nameOf(target: ResolvedTarget): string {
  switch (target.kind) {
    case 'http':
    case 'websocket':
      return target.url.origin + target.url.pathname;
    case 'process':
      return processName(target.server);
    case 'script':
    case 'config-file':
      return target.path;
    case 'in-process':
      return 'a server in this process';
    case 'service':
      return typeof target.target === 'string'
        ? target.target.replace(/\/\/.*@/, '//')
        : `the service ${target.target.service}`;
    case 'config':
      return `the servers ${Object.keys(target.config.mcpServers).join(', ')}`;
    case 'list':
      return 'an array of targets';
  }
}

/**
 * The key of a server's results in a cache, with everything that distinguishes servers. A server in this process has none, and a
 * service may be another one each time.
 */
export function cacheKeyOf(resolved: OpenableTarget): string | undefined {
  if (resolved.kind === 'in-process' || resolved.kind === 'service') return undefined;
  if (resolved.kind !== 'process') return resolved.url.href;
  return processKey(resolved.server) + JSON.stringify(resolved.server.env ?? {});
}

/** The key under which the era of a server is remembered. */
export function eraKeyOf(resolved: Exclude<OpenableTarget, { kind: 'in-process' | 'service' }>): string {
  return resolved.kind === 'process' ? processKey(resolved.server) : nameOf(resolved);
}

function processKey({ command, args = [], cwd = '' }: ServerProcess): string {
  return JSON.stringify([cwd, command, ...args]);
}

const transports: Readonly<Record<ResolvedTarget['kind'], TransportName>> = {
  http: 'http',
  websocket: 'websocket',
  process: 'stdio',
  script: 'stdio',
  'in-process': 'in-process',
  service: 'service',
  config: 'group',
  'config-file': 'group',
  list: 'list',
};

/** The transport that carries the messages to a target. */
export function transportOf({ kind }: ResolvedTarget): TransportName {
  return transports[kind];
}
