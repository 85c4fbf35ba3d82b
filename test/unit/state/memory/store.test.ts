import { storeContract } from 'fullmcp/testing';
import { describe, test } from 'vitest';
import { memoryStore } from '../../../../src/state/memory/store.js';

describe('memoryStore', () => {
  for (const { name, run } of storeContract({ open: () => memoryStore() })) test(name, run);
});
