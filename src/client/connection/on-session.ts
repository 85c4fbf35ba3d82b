import type { McpError } from '../../protocol/errors.js';
import type { Link } from '../../protocol/link.js';
import type { WideMiddleware } from '../../protocol/telemetry/hosting.js';
import { begin, sessionEvents } from '../../protocol/telemetry/tracing.js';

/** Makes the function that tells listeners and middleware of each connection. It returns the function for its end, if anybody listens. */
export function onSession(
  use: readonly WideMiddleware[],
  target: string,
): (link: Link) => ((lost?: McpError) => void) | undefined {
  return function onSession(link) {
    const { transport } = link;
    const finish = begin(sessionEvents, () => ({ side: 'client' as const, transport, target }));
    const ends = use.flatMap((one) => one.onSession?.(link) ?? []);
    if (finish === undefined && ends.length === 0) return undefined;
    return (lost) => {
      finish?.(lost === undefined ? {} : { error: lost });
      for (const end of ends) end(lost);
    };
  };
}
