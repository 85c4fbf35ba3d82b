// A wire with faults.

import { McpError } from '../../protocol/errors.js';
import type { Wire, WireEvents } from '../../transports/client/wire.js';
import { type Direction, type FaultPlan, type Faults, garble, startFaults, truncate } from './faults.js';

/** A wire whose messages meet the faults of a plan, in both directions. */
export function faultyWire(wire: Wire, plan: FaultPlan | Faults): Wire {
  const faults = startFaults(plan);
  let receiver: WireEvents | undefined;
  let isOver = false;
  let closing: Promise<void> | undefined;

  const outgoing = new FaultyDirection(faults, 'sent', { deliver: wire.send, breakOff });
  const incoming = new FaultyDirection(faults, 'received', {
    deliver: (text) => receiver?.message(text),
    breakOff,
  });

  function end(): Promise<void> {
    isOver = true;
    outgoing.stop();
    incoming.stop();
    closing ??= wire.close();
    return closing;
  }

  function breakOff(): void {
    if (isOver) return;
    void end();
    receiver?.closed(new McpError('connection_closed', 'The connection was lost: the fault plan closed it.'));
  }

  return {
    send: (text) => outgoing.push(text),
    start(events) {
      receiver = events;
      wire.start({
        message: (text) => incoming.push(text),
        tooLong: events.tooLong,
        problem: events.problem,
        // Delayed messages still arrive before the end.
        closed: (reason) =>
          incoming.after(() => {
            if (isOver) return;
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
  readonly breakOff: () => void;
}

/** One direction. Messages stay in order, as on a real connection. */
class FaultyDirection {
  readonly #faults: Faults;
  readonly #direction: Direction;
  readonly #ends: Ends;
  #queue: { readonly delayMs: number; readonly act: () => void }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isBusy = false;
  #isStalled = false;
  #isStopped = false;

  constructor(faults: Faults, direction: Direction, ends: Ends) {
    this.#faults = faults;
    this.#direction = direction;
    this.#ends = ends;
  }

  push(text: string): void {
    if (this.#isStopped) return;
    const { fault, delayMs, random } = this.#faults.next(this.#direction);
    const { deliver, breakOff } = this.#ends;
    this.#add(delayMs, () => {
      switch (fault) {
        case 'drop':
          return;
        case 'close':
          return breakOff();
        case 'stall':
          this.#stall(() => deliver(text));
          return;
        case 'truncate':
          return deliver(truncate(text, random));
        case 'garble':
          return deliver(garble(text, random));
        case 'duplicate':
          deliver(text);
          if (!this.#isStopped) deliver(text);
          return;
        default:
          fault satisfies undefined;
          return deliver(text);
      }
    });
  }

  /** Runs `act` when all earlier messages have arrived; at once if the direction is stalled. */
  after(act: () => void): void {
    if (this.#isStalled) act();
    else this.#add(0, act);
  }

  stop(): void {
    this.#isStopped = true;
    this.#queue = [];
    clearTimeout(this.#timer);
  }

  #add(delayMs: number, act: () => void): void {
    this.#queue.push({ delayMs, act });
    this.#run();
  }

  // A delivery may cause more messages, which wait for their turn.
  #run(): void {
    while (!this.#isBusy && !this.#isStalled) {
      const head = this.#queue.shift();
      if (head === undefined) return;
      this.#isBusy = true;
      if (head.delayMs > 0) this.#timer = setTimeout(() => this.#act(head.act), head.delayMs);
      else this.#act(head.act);
    }
  }

  #act(act: () => void): void {
    try {
      act();
    } finally {
      this.#isBusy = false;
    }
    this.#run();
  }

  #stall(resume: () => void): void {
    this.#isStalled = true;
    void this.#faults.stopped.then(() => {
      if (this.#isStopped) return;
      this.#isStalled = false;
      resume();
      this.#run();
    });
  }
}
