// The settings of a simulation, which follow from its seed.

import type { Random } from './random.js';

/** How likely each kind of loss is. */
interface Losses {
  readonly storeRequest: number;
  readonly storeReply: number;
  readonly busMessage: number;
  readonly request: number;
  readonly reply: number;
  /** The connection of a stream, with each event. */
  readonly stream: number;
}

/** The size of a simulated cluster, its limits, and how bad its network is. */
export interface Settings {
  readonly replicas: number;
  readonly jobs: number;
  readonly payments: number;
  /** Calls of 2026-07-28 that ask. */
  readonly consultations: number;
  /** Sessions of 2025-11-25, each with calls that ask. */
  readonly sessions: number;
  /** Changes of the list of tools, or of a resource. */
  readonly changes: number;
  /** Events that each of two publishers emits, and the clients that follow them. */
  readonly events: number;
  readonly followers: number;
  /** Whether an answer can be used only once. */
  readonly isOnce: boolean;
  readonly faults: number;
  /** The time after which nothing is lost, cut off or killed any more. */
  readonly faultsMs: number;
  readonly losses: Losses;
  /** The time after which a call of the store fails that got no reply. */
  readonly storeTimeoutMs: number;
  readonly leaseMs: number;
  readonly parkMs: number;
  readonly maxRunning: number;
  /** The longest time that a step takes. */
  readonly stepMs: number;
}

const NO_LOSSES: Losses = { storeRequest: 0, storeReply: 0, busMessage: 0, request: 0, reply: 0, stream: 0 };

/** Chooses the settings of a simulation. */
export function chooseSettings(random: Random): Settings {
  const loss = random.pick([0, 0.01, 0.05]);
  const losses = random.chance(0.3)
    ? NO_LOSSES
    : {
        storeRequest: loss,
        storeReply: loss,
        busMessage: random.pick([0, 0.05, 0.3]),
        request: loss,
        reply: loss,
        stream: random.pick([0, 0.05, 0.2]),
      };
  const load = chooseLoad(random);
  return {
    replicas: random.whole(2, 4),
    ...load,
    isOnce: random.chance(0.3),
    faults: random.whole(0, 6),
    faultsMs: random.between(10_000, 30_000),
    losses,
    storeTimeoutMs: random.pick([1000, 2000, 5000]),
    // The event log knows no leases: an event that a process sent while it had a lease arrives before that lease ends, if the lease is
    // longer than a call of a slow engine.
    leaseMs: random.pick(load.sessions > 0 ? [6000, 15_000] : [1500, 3000, 15_000]),
    parkMs: random.pick([0, 300, 3000, 60_000]),
    maxRunning: random.pick([1, 2, 100]),
    stepMs: random.pick([20, 500, 4000]),
    // The last ones, so that the rest of a seed does not depend on them.
    ...(random.chance(0.25)
      ? { events: random.whole(3, 12), followers: random.whole(1, 3) }
      : { events: 0, followers: 0 }),
  };
}

type Amounts = Pick<Settings, 'jobs' | 'payments' | 'consultations' | 'sessions' | 'changes'>;

/** Most simulations have one kind of clients, because a simulation with all of them takes as long as several others. */
function chooseLoad(random: Random): Amounts {
  const none: Amounts = { jobs: 0, payments: 0, consultations: 0, sessions: 0, changes: 0 };
  const kind = random.pick([
    'tasks',
    'tasks',
    'tasks',
    'calls',
    'calls',
    'sessions',
    'sessions',
    'sessions',
    'all',
  ]);
  const changes = random.whole(0, 6);
  switch (kind) {
    case 'tasks':
      return { ...none, jobs: random.whole(2, 4), payments: random.whole(0, 1) };
    case 'calls':
      return { ...none, payments: random.whole(1, 3), consultations: random.whole(1, 4), changes };
    case 'sessions':
      return { ...none, sessions: random.whole(1, 3), changes };
    default:
      return { jobs: 1, payments: 1, consultations: 1, sessions: 1, changes };
  }
}
