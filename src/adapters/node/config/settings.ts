import { logLevels } from '../../../protocol/tables/log-level.js';
import { logFormats } from '../../../protocol/telemetry/log-settings.js';
import type { ServeOptions } from '../server/options.js';
import {
  asIs,
  formatName,
  levelName,
  list,
  pathName,
  portNumber,
  proxies,
  publicUrl,
  type ReadVariable,
  wholeNumber,
  workerCount,
} from './variables.js';

// The one table of what an operator sets: the options of the config file, their schema, and their environment variables.

type SchemaNode = Readonly<Record<string, unknown>>;

/** One option that an operator can set. */
export interface Setting {
  /** The JSON Schema of the option in the config file. `writeOnly` marks a secret. */
  readonly schema: SchemaNode;
  /** The environment variable. */
  readonly variable?: string;
  /** Reads the variable. Throws an error that names it. */
  readonly read?: ReadVariable;
}

/** The options that a program alone can set, because JSON has no functions, and `config`, which names the file. */
type ProgramOption = 'auth' | 'card' | 'eventLog' | 'config';

/** The names of the settings. */
export type SettingName = Exclude<keyof ServeOptions, ProgramOption>;

const count = (description: string, standard?: number): SchemaNode => ({
  type: 'integer',
  minimum: 0,
  description,
  ...(standard !== undefined && { default: standard }),
});
const flag = (description: string): SchemaNode => ({ type: 'boolean', description, default: true });
const strings = (description: string): SchemaNode => ({
  type: 'array',
  items: { type: 'string', minLength: 1 },
  description,
});
const pem = (description: string): SchemaNode => ({
  type: ['string', 'array'],
  items: { type: 'string' },
  description,
});
const fields = (properties: Readonly<Record<string, SchemaNode>>): SchemaNode => ({
  type: 'object',
  additionalProperties: false,
  properties,
});

/** The settings by the names of their options. The compiler reports an option of `serve` that is missing here. */
export const settings: Readonly<Record<SettingName, Setting>> = {
  port: {
    variable: 'PORT',
    read: portNumber,
    schema: { ...count('The port to listen on; 0 for any free one.', 3000), maximum: 65_535 },
  },
  host: {
    variable: 'MCP_HOST',
    read: asIs,
    schema: {
      type: 'string',
      minLength: 1,
      default: '127.0.0.1',
      description: 'The name or address to listen on. 0.0.0.0 accepts connections from other machines.',
    },
  },
  path: {
    variable: 'MCP_PATH',
    read: pathName,
    schema: { type: 'string', pattern: '^[/$]', default: '/mcp', description: 'The path of the endpoint.' },
  },
  publicUrl: {
    variable: 'MCP_PUBLIC_URL',
    read: publicUrl,
    schema: {
      type: 'string',
      pattern: '^(https?://|\\$)',
      description: 'The URL that clients use. Its host and origin are allowed.',
    },
  },
  allowedHosts: {
    variable: 'MCP_ALLOWED_HOSTS',
    read: list,
    schema: strings('Further host names that clients may use, without ports.'),
  },
  allowedOrigins: {
    variable: 'MCP_ALLOWED_ORIGINS',
    read: list,
    schema: strings('The origins of web pages that may call.'),
  },
  trustProxy: {
    variable: 'MCP_TRUST_PROXY',
    read: proxies,
    schema: {
      description:
        'The proxies whose X-Forwarded-For is believed: their number, or their addresses and ranges.',
      anyOf: [
        { const: false },
        { type: 'integer', minimum: 0 },
        { type: 'array', items: { type: 'string' } },
        {
          ...fields({
            proxies: {
              anyOf: [
                { type: 'integer', minimum: 0 },
                { type: 'array', items: { type: 'string' } },
              ],
            },
            header: { type: 'string' },
          }),
          required: ['proxies'],
        },
      ],
    },
  },
  secret: {
    variable: 'MCP_SECRET',
    read: asIs,
    schema: {
      type: ['string', 'array'],
      items: { type: 'string' },
      writeOnly: true,
      description: `Signs session ids and encrypts the state of open questions; at least 32 characters. The first of several is used, all are accepted. Write "\${NAME}" to take it from the environment.`,
    },
  },
  secretFile: {
    variable: 'MCP_SECRET_FILE',
    read: asIs,
    schema: {
      type: 'string',
      minLength: 1,
      description: 'The path of a file with the secret, instead of "secret".',
    },
  },
  clusterUrl: {
    variable: 'MCP_CLUSTER_URL',
    read: asIs,
    schema: {
      type: 'string',
      minLength: 1,
      writeOnly: true,
      description: 'The URL of the engine that all processes share: postgres://, redis:// or nats://.',
    },
  },
  tls: {
    // Two variables are one option: see environment.ts.
    schema: {
      description: 'The certificate and key. Renewed files are used without a restart.',
      ...fields({
        cert: pem('The path of the certificate, or its PEM text.'),
        key: { ...pem('The path of the private key, or its PEM text.'), writeOnly: true },
        passphrase: { type: 'string', writeOnly: true, description: 'The password of the key.' },
        pfx: { type: 'string', description: 'The path of a PKCS #12 file, instead of "cert" and "key".' },
        ca: pem('The authorities whose client certificates are accepted.'),
        requestCert: { type: 'boolean', default: false, description: 'Whether clients need a certificate.' },
        minVersion: { enum: ['TLSv1.2', 'TLSv1.3'], default: 'TLSv1.2' },
        reloadMs: count('The time between two checks whether the files have changed; 0 for never.', 60_000),
      }),
    },
  },
  workers: {
    variable: 'MCP_WORKERS',
    read: workerCount,
    schema: {
      anyOf: [{ const: 'auto' }, { type: 'integer', minimum: 1 }],
      description: 'The number of worker processes, or "auto" for one per processor.',
    },
  },
  logLevel: {
    variable: 'MCP_LOG_LEVEL',
    read: levelName,
    schema: { enum: logLevels, default: 'info', description: 'The least severe level that is logged.' },
  },
  logFormat: {
    variable: 'MCP_LOG_FORMAT',
    read: formatName,
    schema: {
      enum: logFormats,
      description: 'The form of log messages. Default: text on a terminal, otherwise json.',
    },
  },
  sessions: { schema: flag('Whether clients of 2025-11-25 and older are served.') },
  maxConnections: {
    variable: 'MCP_MAX_CONNECTIONS',
    read: wholeNumber,
    schema: count('The number of sockets that may be open at the same time.'),
  },
  maxBodyBytes: {
    variable: 'MCP_MAX_BODY_BYTES',
    read: wholeNumber,
    schema: count('The largest body of a request, in bytes.', 4_194_304),
  },
  maxDepth: { schema: count("The deepest nesting of a body's JSON.", 128) },
  requestTimeoutMs: {
    variable: 'MCP_REQUEST_TIMEOUT_MS',
    read: wholeNumber,
    schema: count('The time limit of a call.', 600_000),
  },
  bodyTimeoutMs: { schema: count('The time in which a part of a body must arrive.', 30_000) },
  writeTimeoutMs: { schema: count('The time in which a client must read a part of a reply.', 30_000) },
  drainMs: {
    variable: 'MCP_DRAIN_MS',
    read: wholeNumber,
    schema: count('The time for open calls to finish at shutdown.', 5000),
  },
  shutdownDelayMs: {
    variable: 'MCP_SHUTDOWN_DELAY_MS',
    read: wholeNumber,
    schema: count('The time to keep serving at shutdown, while /ready already replies with 503.', 0),
  },
  keepAliveMs: { schema: count('The time between two comments on a quiet stream.', 15_000) },
  maxAgeMs: { schema: count('The longest life of a stream.', 3_600_000) },
  maxBufferedBytes: { schema: count('The bytes of a stream that a client may leave unread.', 4_194_304) },
  maxSessions: { schema: count('The sessions in memory.', 10_000) },
  sessionIdleMs: { schema: count('The idle time after which a session leaves the memory.', 600_000) },
  sessionMaxAgeMs: { schema: count('The age at which a session ends.', 86_400_000) },
  retryMs: { schema: count('The time that clients wait before they reconnect to a stream.', 1000) },
  websocket: {
    schema: {
      description: 'The limits of WebSocket connections, or false to refuse them.',
      anyOf: [
        { const: false },
        fields({
          maxMessageBytes: count('The largest message, in bytes.', 4_194_304),
          maxBufferedBytes: count('The bytes that a client may leave unread.', 4_194_304),
          maxOpenCalls: count('The number of calls that may be open at the same time.', 1000),
          pingMs: count('The time between two pings.', 30_000),
          idleMs: count('The time after which an idle client is disconnected.', 3_600_000),
          maxAgeMs: count('The longest life of a connection.', 86_400_000),
        }),
      ],
    },
  },
  signals: { schema: flag('Whether SIGTERM and SIGINT close the server.') },
  exit: { schema: flag('Whether the process exits after such a signal.') },
};

/** The settings as rows. */
export function settingRows(): readonly (readonly [SettingName, Setting])[] {
  return Object.entries(settings) as [SettingName, Setting][];
}

/** The JSON Schema of the config file, which is also what checks it. */
export function configSchema(): SchemaNode {
  const rows = settingRows().map(([name, { schema, variable }]) => {
    const description = `${schema['description']}${variable === undefined ? '' : ` The environment variable ${variable} takes precedence.`}`;
    return [name, { ...schema, description }];
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'The config file of a fullmcp server',
    type: 'object',
    additionalProperties: false,
    properties: { $schema: { type: 'string' }, ...Object.fromEntries(rows) },
  };
}
