// Taps a wire: the pipes of a process.

import { IT_WROTE } from '../../transports/client/process-name.js';
import type { Wire } from '../../transports/client/wire.js';
import type { TappedChannel } from './channel.js';
import type { ConnectSteps } from './steps.js';

/** A wire that reports its messages. `what` names the step that opens it. */
export function tapWire(wire: Wire, channel: TappedChannel, steps: ConnectSteps, what: string): Wire {
  const end = steps.begin(what);
  let isHeard = false;
  const heard = (): void => {
    if (isHeard) return;
    isHeard = true;
    end('ok');
  };
  return {
    ...(wire.lastLines && { lastLines: wire.lastLines }),
    send(text) {
      channel.sent(text);
      wire.send(text);
    },
    start(events) {
      wire.start({
        message(text) {
          heard();
          channel.deliver(text, () => events.message(text));
        },
        tooLong(reason, answers) {
          heard();
          events.tooLong(reason, answers);
        },
        problem: events.problem,
        closed(reason) {
          if (!isHeard) end('failed', reason.message.split(IT_WROTE, 1)[0]);
          isHeard = true;
          events.closed(reason);
        },
      });
    },
    async close() {
      if (!isHeard) end('failed', 'it did not answer, and was ended');
      isHeard = true;
      await wire.close();
    },
  };
}
