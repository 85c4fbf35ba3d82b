import { serve } from 'fullmcp/node';
import { onTestFinished } from 'vitest';

/** Serves until the test has ended; returns the URL. */
export async function served(server: Parameters<typeof serve>[0]): Promise<string> {
  const running = await serve(server, { port: 0 });
  onTestFinished(() => running.close());
  return running.url;
}
