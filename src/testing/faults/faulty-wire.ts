// A wire with faults.

import { McpError } from '../../protocol/errors.js';
import type { Wire, WireEvents } from '../../transports/client/wire.js';
import { type Direction, type FaultPlan, type Faults, garbled, startFaults, truncated } from './faults.js';

/** A wire on which things go wrong, in both directions, as the plan says. */
export function faultyWire(wire: Wire, plan: FaultPlan | Faults): Wire {
  const faults = startFaults(plan);
  let hearer: WireEvents | undefined;
  let over = false;
  let closing: Promise<void> | undefined;

  const outgoing = new FaultyDirection(faults, 'sent', { deliver: wire.send, broken });
  const incoming = new FaultyDirection(faults, 'received', {
    deliver: (text) => hearer?.message(text),
    broken,
  });

  function end(): Promise<void> {
    over = true;
    outgoing.stop();
    incoming.stop();
    closing ??= wire.close();
    return closing;
  }

  function broken(): void {
    if (over) return;
    void end();
    hearer?.closed(new McpError('connection_closed', 'The connection broke: a fault of the test'));
  }

  return {
    send: (text) => outgoing.push(text),
    start(events) {
      hearer = events;
      wire.start({
        message: (text) => incoming.push(text),
        tooLong: events.tooLong,
        problem: events.problem,
        // Delayed messages still arrive before the end.
        closed: (reason) =>
          incoming.after(() => {
            if (over) return;
            void end();
            events.closed(reason);
          }),
      });
    },
    close: end,
  };
}

interface Ends {
  readonly deliver: (text: string) => void;
  readonly broken: () => void;
}

/** One direction. The order of the messages is kept, as it is on a real connection. */
class FaultyDirection {
  readonly #faults: Faults;
  readonly #direction: Direction;
  readonly #ends: Ends;
  #queue: { readonly delayMs: number; readonly act: () => void }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #busy = false;
  #stalled = false;
  #stopped = false;

  constructor(faults: Faults, direction: Direction, ends: Ends) {
    this.#faults = faults;
    this.#direction = direction;
    this.#ends = ends;
  }

  push(text: string): void {
    if (this.#stopped) return;
    const { fault, delayMs, random } = this.#faults.next(this.#direction);
    const { deliver, broken } = this.#ends;
    this.#add(delayMs, () => {
      switch (fault) {
        case 'drop':
          return;
        case 'close':
          return broken();
        case 'stall':
          this.#stall(() => deliver(text));
          return;
        case 'truncate':
          return deliver(truncated(text, random));
        case 'garble':
          return deliver(garbled(text, random));
        case 'duplicate':
          deliver(text);
          if (!this.#stopped) deliver(text);
          return;
        default:
          fault satisfies undefined;
          return deliver(text);
      }
    });
  }

  /** Runs when everything before it has arrived; at once if the direction is stalled forever. */
  after(act: () => void): void {
    if (this.#stalled) act();
    else this.#add(0, act);
  }

  stop(): void {
    this.#stopped = true;
    this.#queue = [];
    clearTimeout(this.#timer);
  }

  #add(delayMs: number, act: () => void): void {
    this.#queue.push({ delayMs, act });
    this.#run();
  }

  // A delivery may lead to more messages, which wait for their turn.
  #run(): void {
    while (!this.#busy && !this.#stalled) {
      const head = this.#queue.shift();
      if (head === undefined) return;
      this.#busy = true;
      if (head.delayMs > 0) this.#timer = setTimeout(() => this.#act(head.act), head.delayMs);
      else this.#act(head.act);
    }
  }

  #act(act: () => void): void {
    try {
      act();
    } finally {
      this.#busy = false;
    }
    this.#run();
  }

  #stall(resume: () => void): void {
    this.#stalled = true;
    void this.#faults.calmed.then(() => {
      if (this.#stopped) return;
      this.#stalled = false;
      resume();
      this.#run();
    });
  }
}
