import { memoryStore } from 'fullmcp';
import { describe } from 'vitest';
import { proxyContract } from '../../../support/oauth/proxy-contract.js';

describe('oauthProxy with the store in memory', () => {
  proxyContract(() => memoryStore());
});
