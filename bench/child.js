import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** @param {string} name */
function serverPath(name) {
  return fileURLToPath(new URL(`./servers/${name}.js`, import.meta.url));
}

/**
 * Starts a server that answers questions over IPC, and waits until it is ready.
 * @param {string} name
 * @param {{ args?: string[], execArgv?: string[] }} options
 */
export async function startServer(name, { args = [], execArgv = [] } = {}) {
  const child = fork(serverPath(name), args, { execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [ready] = await Promise.race([once(child, 'message'), diedEarly(child, name)]);
  return {
    /** @type {number} */
    port: ready.port,
    /** @param {object} question */
    async ask(question) {
      child.send(question);
      const [answer] = await once(child, 'message');
      return answer;
    },
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

/** @param {string} name */
export function spawnStdio(name) {
  return spawn(process.execPath, [serverPath(name)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
}

async function diedEarly(child, name) {
  const [code] = await once(child, 'exit');
  throw new Error(`The server ${name} ended with ${code} before it was ready`);
}
