// Serves over HTTP on this computer until the command is stopped.

import process from 'node:process';
import { serve } from '../../../node.js';
import type { Typed } from '../../command/definition.js';
import type { OneServer } from './one-server.js';

const ENDING = ['SIGTERM', 'SIGHUP'] as const;

/** Listens, prints the URL, and ends with Ctrl+C or a signal, after open calls. */
export async function serveHttp(server: OneServer, port: number, { out, signal }: Typed): Promise<void> {
  const serving = await serve(server, { port, host: '127.0.0.1', signals: false, exit: false });
  const stop = (): void => void serving.close();
  for (const name of ENDING) process.on(name, stop);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  out.json({ ok: true, url: serving.url });
  out.value(serving.url);
  try {
    await serving.closed;
  } finally {
    for (const name of ENDING) process.off(name, stop);
  }
}
