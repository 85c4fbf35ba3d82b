import { checkOptions, type KeysOf } from '../protocol/known-keys.js';
import { derivedSeed, seeded } from './seeded.js';

/** What goes wrong on the way, each with a probability from 0 to 1 that it happens to a message. */
export interface FaultPlan {
  /** The same seed gives the same faults for the same sequence of messages. */
  readonly seed: number;
  /** The message never arrives. */
  readonly drop?: number;
  /** The message arrives late, and what is behind it too. */
  readonly delay?: number;
  readonly duplicate?: number;
  /** Only the beginning of the message arrives. */
  readonly truncate?: number;
  /** Some characters of the message are others when it arrives. */
  readonly garble?: number;
  /** The connection breaks. */
  readonly close?: number;
  /** The connection stays open, but nothing comes through any more. */
  readonly stall?: number;
  /** The longest delay. 20 milliseconds unless told. */
  readonly maxDelayMs?: number;
  /** How many messages of each direction pass before anything happens: to connect in peace. None unless told. */
  readonly after?: number;
}

/** The order is that of precedence: of several faults that a message draws, the first happens. */
const kinds = ['close', 'stall', 'drop', 'truncate', 'garble', 'duplicate'] as const;

export type FaultKind = (typeof kinds)[number];
export type Direction = 'sent' | 'received';

/** What happens to one message. */
export interface Fate {
  readonly fault: FaultKind | undefined;
  readonly delayMs: number;
  /** For what the fault leaves open: where to cut, what to change. */
  readonly random: () => number;
}

/** A fault that has happened. `message` counts the messages of its direction from 1. */
export interface FaultEvent {
  readonly direction: Direction;
  readonly message: number;
  readonly fault: FaultKind | 'delay';
}

/** A plan under way. One for all connections of a client: what happened on the first does not happen again on the second. */
export interface Faults {
  readonly plan: FaultPlan;
  /** Everything that went wrong so far: what to print when a seed finds a bug. */
  readonly happened: readonly FaultEvent[];
  /** Ends the faults. What was stalled goes on, and messages come through as they are. */
  readonly calm: () => void;
  /** Resolves with `calm`. */
  readonly calmed: Promise<void>;
  readonly next: (direction: Direction) => Fate;
}

const streams: Readonly<Record<Direction, number>> = { sent: 0, received: 1 };

const planKeys = {
  seed: true,
  drop: true,
  delay: true,
  duplicate: true,
  truncate: true,
  garble: true,
  close: true,
  stall: true,
  maxDelayMs: true,
  after: true,
} satisfies KeysOf<FaultPlan>;

export function startFaults(plan: FaultPlan | Faults): Faults {
  if ('next' in plan) return plan;
  checkOptions('The plan of faults', plan, planKeys);
  const { seed, delay = 0, maxDelayMs = 20, after = 0 } = plan;
  const rates = kinds.map((kind) => plan[kind] ?? 0);
  const counts: Record<Direction, number> = { sent: 0, received: 0 };
  const happened: FaultEvent[] = [];
  let isCalm = false;
  let calm!: () => void;
  const calmed = new Promise<void>((resolve) => {
    calm = () => {
      isCalm = true;
      resolve();
    };
  });

  function next(direction: Direction): Fate {
    const message = ++counts[direction];
    const random = seeded(derivedSeed(seed, streams[direction], message));
    if (isCalm || message <= after) return { fault: undefined, delayMs: 0, random };
    // All are drawn, so that another rate of one fault changes nothing of the others.
    const fault = kinds[rates.map((rate) => random() < rate).indexOf(true)];
    const delayMs = random() < delay ? 1 + Math.floor(random() * maxDelayMs) : 0;
    if (delayMs > 0) happened.push({ direction, message, fault: 'delay' });
    if (fault !== undefined) happened.push({ direction, message, fault });
    return { fault, delayMs, random };
  }

  return { plan, happened, calm, calmed, next };
}

/** A plan with one to three kinds of faults, some rare and some frequent: for tests that try a thousand of them. */
export function randomPlan(seed: number): FaultPlan {
  const random = seeded(derivedSeed(seed, 2, 0));
  const among = ['delay', ...kinds];
  const chosen = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
    const [kind] = among.splice(Math.floor(random() * among.length), 1);
    // Squared, so that rare faults are as likely as frequent ones.
    return [kind, 0.02 + 0.4 * random() ** 2];
  });
  return { seed, ...Object.fromEntries(chosen), maxDelayMs: 1 + Math.floor(random() * 20) };
}

/** The beginning of a text. */
export function truncated(text: string, random: () => number): string {
  return text.slice(0, Math.floor(random() * text.length));
}

const JUNK = '{}[]",:\\0x\u0000\uFFFD ';

/** A text with one to five characters replaced. It stays one line. */
export function garbled(text: string, random: () => number): string {
  const characters = [...text];
  for (let left = 1 + Math.floor(random() * 5); left > 0 && characters.length > 0; left--) {
    characters[Math.floor(random() * characters.length)] = JUNK[Math.floor(random() * JUNK.length)] ?? ' ';
  }
  return characters.join('');
}
