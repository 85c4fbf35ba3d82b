import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, request, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { afterEach } from 'vitest';
import { fullmcp, type RunOptions } from '../support/run-cli.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Runs after the test. */
export function afterwards(close: () => unknown): void {
  closing.push(close);
}

/** Listens on this computer until the test ends. Returns the origin. */
export async function listening(
  server: RequestListener | NetServer,
  { scheme = 'http', host = '127.0.0.1' } = {},
): Promise<string> {
  const made = typeof server === 'function' ? createHttpServer(server) : server;
  made.listen(0, '127.0.0.1');
  await once(made, 'listening');
  afterwards(() => {
    if ('closeAllConnections' in made) (made as Server).closeAllConnections();
    made.close();
  });
  return `${scheme}://${host}:${(made.address() as AddressInfo).port}`;
}

/** A proxy in front of a server, as it is written in two minutes. Returns the URL. */
export function inFrontOf(
  url: string,
  {
    buffers = false,
    drops = [] as readonly string[],
  }: { readonly buffers?: boolean; readonly drops?: readonly string[] },
): Promise<string> {
  const { port, pathname } = new URL(url);
  return listening((incoming, outgoing) => {
    const kept = Object.entries(incoming.headers).filter(([name]) => !drops.includes(name));
    const forwarded = request({
      port,
      host: '127.0.0.1',
      path: incoming.url,
      method: incoming.method,
      headers: Object.fromEntries(kept),
    });
    forwarded.on('response', (reply) => {
      const chunks: Buffer[] = [];
      if (!buffers) outgoing.writeHead(reply.statusCode ?? 0, reply.headers).flushHeaders();
      reply.on('data', (chunk: Buffer) => (buffers ? chunks.push(chunk) : outgoing.write(chunk)));
      reply.on('end', () => {
        if (buffers) outgoing.writeHead(reply.statusCode ?? 0, reply.headers);
        outgoing.end(Buffer.concat(chunks));
      });
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  }).then((origin) => `${origin}${pathname}`);
}

interface FoundStep {
  readonly step: string;
  readonly status: string;
  readonly message: string;
  readonly fix?: string;
}

export interface Examined {
  readonly exit: number;
  readonly findings: readonly FoundStep[];
  /** The findings that are not all right. */
  readonly problems: readonly FoundStep[];
  readonly find: (step: string) => FoundStep | undefined;
  readonly printed: string;
}

/** Runs `fullmcp doctor --json`. */
export async function examined(words: readonly string[], options: RunOptions = {}): Promise<Examined> {
  const { exit, json, stdout, stderr } = await fullmcp(['doctor', '--json', ...words], options);
  const { findings = [], error } = json<{ findings?: readonly FoundStep[]; error?: object }>();
  if (error) throw new Error(`${JSON.stringify(error)}${stderr}`);
  return {
    exit,
    findings,
    problems: findings.filter(({ status }) => status === 'failed' || status === 'warning'),
    find: (name) => findings.find(({ step }) => step === name),
    printed: stdout + stderr,
  };
}
