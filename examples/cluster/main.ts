import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import process from 'node:process';

// Starts three replicas and a balancer in front of them. MCP_CLUSTER_URL names the engine that connects the replicas. Without it,
// the replicas are workers of one process on this machine, which is their balancer. Ctrl+C ends everything.

const REPLICAS = 3;
const program = new URL(import.meta.url.replace(/main(\.[jt]s)$/, 'replica$1'));
const port = process.env['PORT'] ?? '3000';
// All replicas need the same secret.
const secret = process.env['MCP_SECRET'] ?? randomBytes(32).toString('hex');
const running = new Map<ChildProcess, number>();
let isClosing = false;
let turn = 0;

try {
  if (process.env['MCP_CLUSTER_URL']) await withEngine();
  else await withWorkers();
} catch (error) {
  fail(error);
}

async function withEngine(): Promise<void> {
  await Promise.all(Array.from({ length: REPLICAS }, () => startReplica({ PORT: '0' })));
  const balancer = createServer((req, res) => forward(req, res, running.size));
  balancer.listen(Number(port), '127.0.0.1');
  await once(balancer, 'listening');
  const address = balancer.address() as { readonly port: number };
  welcome(`http://127.0.0.1:${address.port}/mcp`);
  onSignal(() => balancer.close().closeAllConnections());
}

async function withWorkers(): Promise<void> {
  welcome(await startReplica({ PORT: port, MCP_WORKERS: String(REPLICAS) }));
  onSignal(() => undefined);
}

/** Starts a replica, and another one when it ends. Resolves with its URL. */
async function startReplica(env: Readonly<Record<string, string>>): Promise<string> {
  const child = fork(program, { env: { ...process.env, MCP_SECRET: secret, ...env } });
  const exited = once(child, 'exit');
  const url = await Promise.race([
    once(child, 'message').then(([message]) => (message as { readonly url: string }).url),
    exited.then(() => undefined),
  ]);
  if (url === undefined) throw new Error('A replica could not start. Its message is above.');
  running.set(child, Number(new URL(url).port));
  console.log(`process ${child.pid} has started`);
  void exited.then(([code, signal]) => {
    running.delete(child);
    if (isClosing) return;
    console.log(
      `process ${child.pid} has ended (${signal ?? code}). The others continue, and another starts.`,
    );
    startReplica(env).catch(fail);
  });
  if (isClosing) child.kill('SIGTERM');
  return url;
}

/** Sends each request to the next replica. One that cannot be reached is skipped. */
function forward(req: IncomingMessage, res: ServerResponse, attempts: number): void {
  const ports = [...running.values()];
  const next = ports[turn++ % ports.length];
  if (next === undefined || attempts === 0) {
    res.writeHead(503, { 'retry-after': '1' }).end();
    return;
  }
  const { method, url, headers } = req;
  const onward = request({ port: next, host: '127.0.0.1', method, path: url, headers, agent: false });
  onward.on('socket', (socket) => socket.once('connect', () => req.pipe(onward)));
  onward.on('response', (reply) => {
    res.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(res);
    reply.on('error', () => res.destroy());
  });
  onward.on('error', (error: NodeJS.ErrnoException) => {
    // The request has not been sent yet, so it can be sent to another replica.
    if (error.code === 'ECONNREFUSED') forward(req, res, attempts - 1);
    else res.destroy();
  });
  res.on('close', () => onward.destroy());
}

function onSignal(close: () => void): void {
  process.once('SIGINT', () => end(close)).once('SIGTERM', () => end(close));
}

/** The replicas finish their calls, and leave their tasks to whoever starts next. */
function end(close: () => void): void {
  isClosing = true;
  close();
  for (const child of running.keys()) child.kill('SIGTERM');
}

function fail(error: unknown): void {
  if (isClosing) return;
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
  end(() => undefined);
}

function welcome(url: string): void {
  console.log(`
${REPLICAS} replicas serve ${url}
Run the client of this example in another terminal, and end the process that it names: kill -9 …
Press Ctrl+C to stop.`);
}
