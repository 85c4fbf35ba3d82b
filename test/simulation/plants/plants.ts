// The planted bugs: for each promise one that breaks it, to show that the simulation notices.

import type { Invariant } from '../checks/invariants.js';
import { eventPlants } from './event-plants.js';
import type { Plant } from './plant.js';
import { sessionPlants } from './session-plants.js';
import { taskPlants } from './task-plants.js';

/** A bug for each promise. */
export const plants: Readonly<Record<Invariant, Plant>> = { ...taskPlants, ...sessionPlants, ...eventPlants };
