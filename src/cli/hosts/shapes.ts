// The fields of a server, as each host names them.

import type { HostFields } from './formats/format.js';

/** A server that a host starts, or that it finds at an address. */
export interface HostServer {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly disabled?: boolean;
}

export interface HostShape {
  /** The fields that an installation sets or removes. */
  readonly managed: readonly string[];
  readonly write: (server: HostServer, name: string) => HostFields;
  readonly read: (fields: HostFields) => HostServer;
}

/** `command`, `args` and `env`, or an address. Hosts differ in the name of the address, and in `type`. */
export function mcpServers({
  url = 'url',
  types,
}: {
  url?: string;
  types?: readonly [string, string];
}): HostShape {
  return {
    managed: ['type', 'command', 'args', 'env', 'cwd', 'url', 'httpUrl', 'serverUrl', 'headers'],
    write: ({ command, args, env, cwd, url: address, headers }) =>
      defined({
        type: types?.[address === undefined ? 0 : 1],
        command,
        args: command === undefined ? undefined : (args ?? []),
        env: notEmpty(env),
        cwd,
        [url]: address,
        headers: notEmpty(headers),
      }),
    read: (fields) =>
      server({
        ...fields,
        url: fields['httpUrl'] ?? fields['serverUrl'] ?? fields['url'],
        disabled: fields['disabled'],
      }),
  };
}

/** The tables of Codex. */
export const codexServer: HostShape = {
  managed: ['command', 'args', 'env', 'cwd', 'url', 'http_headers'],
  write: ({ command, args, env, cwd, url, headers }) =>
    defined({
      command,
      args: command === undefined ? undefined : (args ?? []),
      env: notEmpty(env),
      cwd,
      url,
      http_headers: notEmpty(headers),
    }),
  read: (fields) =>
    server({ ...fields, headers: fields['http_headers'], disabled: fields['enabled'] === false }),
};

/** The extensions of Goose. */
export const gooseExtension: HostShape = {
  managed: ['type', 'name', 'cmd', 'args', 'envs', 'uri', 'headers', 'enabled'],
  write: ({ command, args, env, url, headers }, name) =>
    defined({
      enabled: true,
      type: url === undefined ? 'stdio' : 'streamable_http',
      name,
      cmd: command,
      args: command === undefined ? undefined : (args ?? []),
      uri: url,
      envs: env ?? {},
      headers: notEmpty(headers),
      timeout: 300,
      description: '',
    }),
  read: ({ cmd, args, envs, uri, headers, enabled }) =>
    server({ command: cmd, args, env: envs, url: uri, headers, disabled: enabled === false }),
};

/** The servers of opencode, whose command is an array. */
export const opencodeServer: HostShape = {
  managed: ['type', 'command', 'environment', 'url', 'headers'],
  write: ({ command, args, env, url, headers }) =>
    defined({
      type: url === undefined ? 'local' : 'remote',
      command: command === undefined ? undefined : [command, ...(args ?? [])],
      url,
      environment: notEmpty(env),
      headers: notEmpty(headers),
      enabled: true,
    }),
  read: ({ command, environment, url, headers, enabled }) => {
    const [first, ...args] = Array.isArray(command) ? command : [];
    return server({ command: first, args, env: environment, url, headers, disabled: enabled === false });
  },
};

/** Takes the fields that have the right type; a file may contain anything. */
function server(fields: HostFields): HostServer {
  const { command, args, env, cwd, url, headers, disabled } = fields;
  return defined({
    command: typeof command === 'string' ? command : undefined,
    args: typeof command === 'string' && Array.isArray(args) ? args.map(String) : undefined,
    env: strings(env),
    cwd: typeof cwd === 'string' ? cwd : undefined,
    url: typeof url === 'string' ? url : undefined,
    headers: strings(headers),
    disabled: disabled === true ? true : undefined,
  }) as HostServer;
}

function strings(value: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return notEmpty(Object.fromEntries(Object.entries(value).map(([name, one]) => [name, String(one)])));
}

function notEmpty(record: Readonly<Record<string, string>> | undefined): typeof record {
  return record && Object.keys(record).length > 0 ? record : undefined;
}

function defined(fields: HostFields): HostFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
