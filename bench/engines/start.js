// Starts the engines, each in a temporary folder and on a free port. They end with this process, however that ends.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

/** @typedef {{ env: Record<string, string>, isShared: boolean, cpuMs: () => number, stop: () => void }} Engine `env`: the settings of a replica. `cpuMs`: the CPU time of the engine's processes. */

/** The engines by name. Each returns undefined if it is not installed on this machine. */
export const engines = {
  memory: async () => embedded({}, false),
  lmdb: async () => withFolder(embedded({}, true)),
  postgres: () => startPostgres(),
  redis: () => startRedis('everysec'),
  'redis, always': () => startRedis('always'),
  nats: async () => {
    const server = await startNats();
    return server && withFolder(server);
  },
};

/** @param {Record<string, string>} env @param {boolean} isShared @returns {Engine} */
function embedded(env, isShared) {
  return { env, isShared, cpuMs: () => 0, stop: () => undefined };
}

/** Adds a folder for LMDB, which the replicas share. @param {Engine} engine @returns {Engine} */
function withFolder(engine) {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-bench-store-'));
  return {
    ...engine,
    env: { ...engine.env, STORE: folder },
    stop() {
      engine.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startPostgres() {
  const bin = postgresFolder();
  if (bin === undefined) return undefined;
  const identity = nobodyIfRoot();
  const home = mkdtempSync(join(tmpdir(), 'fullmcp-bench-postgres-'));
  if (identity.uid !== undefined) chownSync(home, identity.uid, identity.gid);
  const data = join(home, 'data');
  const initialize = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  execFileSync(join(bin, 'initdb'), initialize, { ...identity, cwd: home, stdio: 'ignore' });
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `port=${port}`];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  return launch([join(bin, 'postgres'), ...args], {
    ...{ home, port, url: `postgres://postgres@127.0.0.1:${port}/postgres`, identity },
    // A start packet with an unknown version gets an error, but only from a server that accepts connections.
    isReady: (reply) => reply.startsWith('E') || reply.startsWith('N'),
    greeting: Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]),
  });
}

/** @param {'everysec' | 'always'} appendfsync */
async function startRedis(appendfsync) {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  const home = mkdtempSync(join(tmpdir(), 'fullmcp-bench-redis-'));
  const port = await freePort();
  const settings = { port, bind: '127.0.0.1', dir: home, save: '', appendonly: 'yes', appendfsync };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return launch(['redis-server', ...args], {
    ...{ home, port, url: `redis://127.0.0.1:${port}` },
    isReady: (reply) => reply.startsWith('+PONG'),
    greeting: Buffer.from('PING\r\n'),
  });
}

async function startNats() {
  if (spawnSync('nats-server', ['--version']).status !== 0) return undefined;
  const home = mkdtempSync(join(tmpdir(), 'fullmcp-bench-nats-'));
  const port = await freePort();
  const file = join(home, 'nats.conf');
  const storage = `jetstream { store_dir: "${home}/js", max_mem: 1G, max_file: 4G }`;
  writeFileSync(file, `host: 127.0.0.1\nport: ${port}\n${storage}\n`);
  return launch(['nats-server', '-c', file], {
    ...{ home, port, url: `nats://127.0.0.1:${port}` },
    isReady: (reply) => reply.includes('"jetstream":true'),
    greeting: Buffer.from(''),
  });
}

/**
 * @param {string[]} command
 * @param {{ home: string, port: number, url: string, identity?: object, greeting: Buffer, isReady: (reply: string) => boolean }} options
 * @returns {Promise<Engine>}
 */
async function launch(command, { home, port, url, identity = {}, greeting, isReady }) {
  // The pipe closes with this process, and the shell then ends the engine.
  const script = '"$@" >/dev/null 2>&1 & p=$!; echo $p; cat >/dev/null; kill -9 $p';
  const shell = spawn('sh', ['-c', script, 'sh', ...command], {
    ...identity,
    cwd: home,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const [line] = await once(createInterface({ input: shell.stdout }), 'line');
  const pid = Number(line);
  for (let tries = 0; !isReady(await replyTo(port, greeting)); tries++) {
    if (tries === 200) throw new Error(`${command[0]} does not answer.`);
    await pause(50);
  }
  return {
    env: { MCP_CLUSTER_URL: url },
    isShared: true,
    cpuMs: () => [pid, ...childrenOf(pid)].reduce((sum, each) => sum + cpuMsOf(each), 0) + reaped(pid),
    stop() {
      shell.stdin.end();
      shell.once('exit', () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
    },
  };
}

/** @param {number} port @param {Buffer} greeting @returns {Promise<string>} */
function replyTo(port, greeting) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(greeting));
    const end = (text = '') => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(1000, () => end());
    socket.once('data', (data) => end(String(data)));
    socket.once('error', () => end());
    socket.once('close', () => end());
  });
}

function postgresFolder() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const places = [
    process.env['POSTGRES_BIN'] ?? '',
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ];
  return places.find((place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')));
}

// Postgres refuses to run as root, and wants a user that the system knows.
function nobodyIfRoot() {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** @param {number} parent */
function childrenOf(parent) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid)[1] === parent);
}

/** @param {number} pid */
function cpuMsOf(pid) {
  const stat = statOf(pid);
  return ((stat[11] ?? 0) + (stat[12] ?? 0)) * 10;
}

/** The CPU time of processes of the engine that have ended. @param {number} pid */
function reaped(pid) {
  const stat = statOf(pid);
  return ((stat[13] ?? 0) + (stat[14] ?? 0)) * 10;
}

/** The numbers after the name in /proc/…/stat. @param {number} pid @returns {number[]} */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return [];
  }
}

/** @returns {Promise<number>} */
async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
  probe.close();
  return port;
}
