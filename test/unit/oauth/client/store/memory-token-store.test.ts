import { tokenStoreContract } from 'fullmcp/testing';
import { describe, test } from 'vitest';
import { memoryTokenStore } from '../../../../../src/oauth/client/store/memory-token-store.js';

describe('memoryTokenStore', () => {
  for (const { name, run } of tokenStoreContract({ open: () => memoryTokenStore() })) test(name, run);
});
