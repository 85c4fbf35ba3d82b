import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { open } from '../load/http.js';

const here = fileURLToPath(new URL('.', import.meta.url));
const watch = `${here}watch.js`;
const START_MS = 20_000;

/** @typedef {import('./contenders.js').Contender} Contender */

/**
 * Starts a program of a contender, and can ask it for its CPU time and heap.
 * @param {Contender} contender
 * @param {'http' | 'stdio' | 'bun'} kind
 * @param {{ port?: number, bun?: string, isWatched?: boolean }} [options]
 */
export function startProgram({ folder, programs }, kind, { port, bun, isWatched = true } = {}) {
  const flags = kind === 'bun' ? ['--preload', watch] : ['--expose-gc', '--import', watch];
  const [command, args] = [bun ?? process.execPath, [...(isWatched ? flags : []), programs[kind] ?? '']];
  const child = spawn(command, args, {
    cwd: here + folder,
    env: {
      ...process.env,
      NODE_ENV: 'production',
      NODE_NO_WARNINGS: '1',
      ...(port && { PORT: String(port) }),
    },
    stdio: [
      kind === 'stdio' ? 'pipe' : 'ignore',
      kind === 'stdio' ? 'pipe' : 'ignore',
      'pipe',
      ...(isWatched ? ['ipc'] : []),
    ],
    serialization: 'json',
  });
  let last = '';
  child.stderr?.on('data', (chunk) => {
    last = (last + chunk).slice(-2000);
  });
  return {
    child,
    /** What it has printed as its last words, for errors. */
    lastWords: () => last,
    /** @param {'cpu' | 'heap'} what */
    async ask(what) {
      child.send({ what });
      const [answer] = await once(child, 'message');
      return answer;
    },
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

/**
 * Starts a program that listens for HTTP, and waits until it accepts connections.
 * @param {Contender} contender
 * @param {'http' | 'bun'} kind
 * @param {string} [bun]
 */
export async function startListening(contender, kind, bun) {
  const port = contender.port ?? (await freePort());
  const program = startProgram(contender, kind, { port, bun });
  const until = Date.now() + START_MS;
  while (!(await accepts(port))) {
    if (program.child.exitCode !== null || Date.now() > until)
      throw new Error(`${contender.name} (${kind}) did not start:\n${program.lastWords()}`);
    await pause(20);
  }
  return { ...program, port };
}

async function accepts(port) {
  try {
    (await open(port)).destroy();
    return true;
  } catch {
    return false;
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return address.port;
}
