import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startServer } from '../child.js';
import { interleaved } from '../numbers.js';

const program = fileURLToPath(new URL('../../dist/cli/fullmcp.js', import.meta.url));

/** The milliseconds that a command takes, next to a Node that does nothing. */
export async function measureCommand({ spawns }) {
  const server = await startServer('http-fullmcp');
  const url = `http://127.0.0.1:${server.port}/mcp`;
  try {
    return await interleaved(
      {
        node: () => timed(['-e', '0']),
        help: () => timed([program, '--help']),
        list: () => timed([program, 'list', url]),
      },
      spawns,
    );
  } finally {
    await server.stop();
  }
}

async function timed(args) {
  const from = performance.now();
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`\`node ${args.join(' ')}\` ended with the code ${code}.`);
  return { milliseconds: performance.now() - from };
}
