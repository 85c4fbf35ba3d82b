import { circuitBreaker, retry } from 'fullmcp/middleware';
import { type ProxyServer, proxy } from 'fullmcp/proxy';

/** A server in front of one that is sometimes away or overloaded. Serve it as any other. */
export function steady(url: string): ProxyServer {
  return proxy(url, {
    use: [
      // Up to three times, after growing delays. Only calls that are safe to repeat: reads, lists, and tools that
      // are declared read-only or idempotent. Any call, if it was certainly not processed (429).
      retry({ maxRetries: 3 }),
      // After five failures in a row, calls fail at once for half a minute, and the server has time to recover.
      circuitBreaker({ failures: 5, openMs: 30_000 }),
    ],
  });
}
