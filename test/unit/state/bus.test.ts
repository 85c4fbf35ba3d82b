import { busContract } from 'fullmcp/testing';
import { describe, test } from 'vitest';
import { memoryBus } from '../../../src/state/bus.js';

describe('memoryBus', () => {
  for (const { name, run } of busContract({ open: () => memoryBus() })) test(name, run);
});
