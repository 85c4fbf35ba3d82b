// The settings of a simulation, which follow from its seed.

import type { Random } from './random.js';

/** How likely each kind of loss is. */
interface Losses {
  readonly storeRequest: number;
  readonly storeReply: number;
  readonly busMessage: number;
  readonly request: number;
  readonly reply: number;
}

/** The size of a simulated cluster, its limits, and how bad its network is. */
export interface Settings {
  readonly replicas: number;
  readonly jobs: number;
  readonly payments: number;
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

const NO_LOSSES: Losses = { storeRequest: 0, storeReply: 0, busMessage: 0, request: 0, reply: 0 };

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
      };
  return {
    replicas: random.whole(2, 4),
    jobs: random.whole(2, 4),
    payments: random.whole(1, 3),
    faults: random.whole(0, 6),
    faultsMs: random.between(10_000, 30_000),
    losses,
    storeTimeoutMs: random.pick([1000, 2000, 5000]),
    leaseMs: random.pick([1500, 3000, 15_000]),
    parkMs: random.pick([0, 300, 3000, 60_000]),
    maxRunning: random.pick([1, 2, 100]),
    stepMs: random.pick([20, 500, 4000]),
  };
}
