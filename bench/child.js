import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SECRET = 'a secret that all replicas of the bench share';

/** @param {string} name */
export function serverPath(name) {
  return fileURLToPath(new URL(`./servers/${name}.js`, import.meta.url));
}

/** @typedef {{ args?: string[], execArgv?: string[], env?: Record<string, string>, dist?: string | undefined }} ForkOptions `dist`: the build to measure. Default: this one. */

/**
 * Starts a server that answers questions over IPC, and waits until it is ready.
 * @param {string} name
 * @param {ForkOptions} [options]
 */
export function startServer(name, options) {
  return start(serverPath(name), options);
}

/**
 * Starts a client that makes calls on request over IPC, and waits until it is connected.
 * @param {string} name
 * @param {ForkOptions} [options]
 */
export function startClient(name, options) {
  return start(fileURLToPath(new URL(`./clients/${name}.js`, import.meta.url)), options);
}

/**
 * Starts a server that stands for another one.
 * @param {string} kind
 * @param {string[]} args
 */
export function startComposed(kind, ...args) {
  return start(fileURLToPath(new URL('./composition/server.js', import.meta.url)), { args: [kind, ...args] });
}

/** Starts a process that holds open streams. */
export function startStreams() {
  return start(fileURLToPath(new URL('./streams/load.js', import.meta.url)));
}

/**
 * Starts a replica of a server on an engine.
 * @param {ForkOptions} [options]
 */
export function startReplica(options) {
  const env = { MCP_SECRET: SECRET, ...options?.env };
  return start(fileURLToPath(new URL('./engines/replica.js', import.meta.url)), { ...options, env });
}

/**
 * Starts a server with events on an engine.
 * @param {ForkOptions} [options]
 */
export function startDesk(options) {
  const env = { MCP_SECRET: SECRET, ...options?.env };
  return start(fileURLToPath(new URL('./events/desk.js', import.meta.url)), { ...options, env });
}

/** Starts a process that receives events. */
export function startReceiver() {
  return start(fileURLToPath(new URL('./events/receiver.js', import.meta.url)));
}

/**
 * @param {string} path
 * @param {ForkOptions} [options]
 */
async function start(path, { args = [], execArgv = [], env = {}, dist } = {}) {
  const all = { ...process.env, ...env, ...(dist && { FULLMCP_DIST: dist }) };
  const child = fork(path, args, { env: all, execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const died = diedEarly(child, path);
  died.catch(() => undefined);
  const [ready] = await Promise.race([once(child, 'message'), died]);
  return {
    /** @type {number} */
    port: ready.port,
    /** @param {object} question */
    async ask(question) {
      child.send(question);
      const [answer] = await Promise.race([once(child, 'message'), died]);
      return answer;
    },
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

/**
 * @param {string} name
 * @param {string} [dist]
 */
export function spawnStdio(name, dist) {
  return spawn(process.execPath, [serverPath(name)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_NO_WARNINGS: '1', ...(dist && { FULLMCP_DIST: dist }) },
  });
}

async function diedEarly(child, path) {
  const [code] = await once(child, 'exit');
  throw new Error(`${path} exited with code ${code} before it had answered.`);
}
