// Plans of network faults, and the fate of each message.

import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { derivedSeed, seeded } from './seeded.js';

/** The faults of a network, each with the probability from 0 to 1 that it happens to a message. Default of each: 0. */
export interface FaultPlan {
  /** The seed of the random numbers: with the same seed, the same messages get the same faults. */
  readonly seed: number;
  /** The message never arrives. */
  readonly drop?: number;
  /** The message arrives late, and so do those behind it on the same connection or stream. */
  readonly delay?: number;
  /** The message arrives twice. */
  readonly duplicate?: number;
  /** Only the beginning of the message arrives. */
  readonly truncate?: number;
  /** One to five characters of the message are replaced. */
  readonly garble?: number;
  /** The connection breaks. */
  readonly close?: number;
  /** The connection stays open, but nothing arrives until `stop` is called. */
  readonly stall?: number;
  /** The longest delay, in milliseconds. Default: 20 ms. */
  readonly maxDelayMs?: number;
  /** The number of messages in each direction that pass before the first fault, so that the client can connect. Default: 0. */
  readonly after?: number;
}

/** In order of precedence: if a message draws several faults, the first of them happens. */
const kinds = ['close', 'stall', 'drop', 'truncate', 'garble', 'duplicate'] as const;

/**
 * A fault that can happen to a message. If a message draws several, only the first in this order happens: close, stall, drop,
 * truncate, garble, duplicate.
 */
type FaultKind = (typeof kinds)[number];
/** The direction of a message, as the client sees it. */
export type Direction = 'sent' | 'received';

/** The fate of one message. */
export interface Fate {
  /** The fault that happens; undefined for none. */
  readonly fault: FaultKind | undefined;
  /** The delay before anything else happens, in milliseconds. */
  readonly delayMs: number;
  /** Random numbers from 0 to 1 for the details of the fault: where to cut, what to change. */
  readonly random: () => number;
}

/** A fault that has happened. */
export interface FaultEvent {
  /** The direction of the message. */
  readonly direction: Direction;
  /** The number of the message in its direction, counted from 1. */
  readonly message: number;
  /** The fault, or `delay`. */
  readonly fault: FaultKind | 'delay';
}

/** A plan that was started. All connections of a client share it, so that a reconnect does not start it over. */
export interface Faults {
  /** The plan that was started. */
  readonly plan: FaultPlan;
  /** The faults so far, in order. Print them when a test fails with a seed. */
  readonly events: readonly FaultEvent[];
  /** Ends the faults: stalled messages arrive, and later ones pass unchanged. */
  readonly stop: () => void;
  /** Resolves when `stop` is called. */
  readonly stopped: Promise<void>;
  /** Draws the fate of the next message; for transports of your own. */
  readonly next: (direction: Direction) => Fate;
}

const streams: Readonly<Record<Direction, number>> = { sent: 0, received: 1 };

const rate = { is: 'number', max: 1 } as const;
const planTable = {
  seed: 'any',
  drop: rate,
  delay: rate,
  duplicate: rate,
  truncate: rate,
  garble: rate,
  close: rate,
  stall: rate,
  maxDelayMs: { is: 'ms', default: 20 },
  after: { is: 'count', min: 0, default: 0 },
} as const satisfies OptionTable<FaultPlan>;

/** Starts a plan, so that a test can read its `events` and `stop` it. Returns started faults as they are. */
export function startFaults(plan: FaultPlan | Faults): Faults {
  if ('next' in plan) return plan;
  const { seed, delay = 0, maxDelayMs, after } = readOptions('The plan of faults', plan, planTable);
  const rates = kinds.map((kind) => plan[kind] ?? 0);
  const counts: Record<Direction, number> = { sent: 0, received: 0 };
  const events: FaultEvent[] = [];
  let isStopped = false;
  let stop!: () => void;
  const stopped = new Promise<void>((resolve) => {
    stop = () => {
      isStopped = true;
      resolve();
    };
  });

  function next(direction: Direction): Fate {
    const message = ++counts[direction];
    const random = seeded(derivedSeed(seed, streams[direction], message));
    if (isStopped || message <= after) return { fault: undefined, delayMs: 0, random };
    // All faults are drawn, so that a different rate of one does not change the others.
    const fault = kinds[rates.map((rate) => random() < rate).indexOf(true)];
    const delayMs = random() < delay ? 1 + Math.floor(random() * maxDelayMs) : 0;
    if (delayMs > 0) events.push({ direction, message, fault: 'delay' });
    if (fault !== undefined) events.push({ direction, message, fault });
    return { fault, delayMs, random };
  }

  return { plan, events, stop, stopped, next };
}

/** Makes a plan from a seed: one to three kinds of faults, rare or frequent. For tests that try many seeds. */
export function randomPlan(seed: number): FaultPlan {
  const random = seeded(derivedSeed(seed, 2, 0));
  const among = ['delay', ...kinds];
  const choices = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
    const [kind] = among.splice(Math.floor(random() * among.length), 1);
    // Squared, so that most faults are rare.
    return [kind, 0.02 + 0.4 * random() ** 2];
  });
  return { seed, ...Object.fromEntries(choices), maxDelayMs: 1 + Math.floor(random() * 20) };
}

/** The beginning of the string, cut at a random place. */
export function truncate(text: string, random: () => number): string {
  return text.slice(0, Math.floor(random() * text.length));
}

const JUNK = '{}[]",:\\0x\u0000\uFFFD ';

/** The string with one to five characters replaced. It stays one line. */
export function garble(text: string, random: () => number): string {
  const characters = [...text];
  for (let count = 1 + Math.floor(random() * 5); count > 0 && characters.length > 0; count--) {
    characters[Math.floor(random() * characters.length)] = JUNK[Math.floor(random() * JUNK.length)] ?? ' ';
  }
  return characters.join('');
}
