// Checks the settings of Redis at the start, and says what they mean.

import type { RedisConnection } from './client/connection.js';
import { RedisError, replyCodeOf } from './client/error.js';

/** Checks a server. Throws if it cannot be used; returns warnings about what it may lose. */
export async function checkServer(connection: Pick<RedisConnection, 'send'>): Promise<readonly string[]> {
  return [...(await checkVersion(connection)), ...(await checkSettings(connection))];
}

async function checkVersion(connection: Pick<RedisConnection, 'send'>): Promise<readonly string[]> {
  const info = await allowed(connection.send(['INFO', 'server']));
  if (typeof info !== 'string') {
    return [
      'The version of Redis could not be checked, because INFO is not permitted. Redis 7.0 or newer, or Valkey, is needed.',
    ];
  }
  // Valkey also has a redis_version, that of the Redis with which it is compatible.
  const version = /^redis_version:(\d+)\.(\d+)\S*/m.exec(info);
  if (version !== null && Number(version[1]) >= 7) return [];
  const name =
    version === null ? 'an unknown version' : `version ${version[0].slice('redis_version:'.length)}`;
  throw new RedisError('refused', `The Redis server has ${name}. Redis 7.0 or newer, or Valkey, is needed.`);
}

async function checkSettings(connection: Pick<RedisConnection, 'send'>): Promise<readonly string[]> {
  const settings = await readSettings(connection, [
    'appendonly',
    'appendfsync',
    'maxmemory',
    'maxmemory-policy',
  ]);
  if (settings === undefined)
    return [
      'The settings of Redis could not be checked, because CONFIG is not permitted. If "maxmemory-policy" is not "noeviction", Redis silently deletes tasks and outcomes when its memory is full. If it has no append-only file with "appendfsync always", a crash of its machine loses the last writes.',
    ];
  return [...evictionWarnings(settings), ...durabilityWarnings(settings)];
}

function evictionWarnings(settings: ReadonlyMap<string, string>): readonly string[] {
  const policy = settings.get('maxmemory-policy') ?? 'noeviction';
  if (policy === 'noeviction') return [];
  const now = settings.get('maxmemory') === '0' ? ' It has no effect as long as "maxmemory" is 0.' : '';
  return [
    `Redis has "maxmemory-policy ${policy}": when its memory is full, it silently deletes tasks, outcomes and leases.${now} Set it to "noeviction", so that writes are refused instead.`,
  ];
}

function durabilityWarnings(settings: ReadonlyMap<string, string>): readonly string[] {
  if (settings.get('appendonly') !== 'yes')
    return [
      'Redis has "appendonly no": when it is restarted or crashes, it loses everything that was written since its last snapshot. Set "appendonly yes" and "appendfsync always".',
    ];
  switch (settings.get('appendfsync')) {
    case 'always':
      return [];
    case 'no':
      return [
        'Redis has "appendfsync no": when its machine crashes, it loses what the operating system has not written yet, often half a minute. Set "appendfsync always", so that a write that was acknowledged is on the disk.',
      ];
    default:
      return [
        'Redis has "appendfsync everysec": when its machine crashes, or Redis itself while the disk is busy, the writes of the last second or two are lost, although they were acknowledged. Set "appendfsync always", so that a write that was acknowledged is on the disk.',
      ];
  }
}

async function readSettings(
  connection: Pick<RedisConnection, 'send'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  const settings = new Map<string, string>();
  for (const name of names) {
    const reply = await allowed(connection.send(['CONFIG', 'GET', name]));
    if (!Array.isArray(reply)) return undefined;
    if (reply.length === 2) settings.set(String(reply[0]), String(reply[1]));
  }
  return settings.size === 0 ? undefined : settings;
}

// Managed services forbid some commands, or do not know them.
async function allowed(reply: Promise<unknown>): Promise<unknown> {
  try {
    return await reply;
  } catch (error) {
    const code = replyCodeOf(error);
    if (code === 'NOPERM' || code === 'ERR') return undefined;
    throw error;
  }
}
