// The contract of a store, as cases for any test runner.

import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { Store } from '../../state/store.js';
import { type ContractCase, type StoreCases, uniqueName } from './contract.js';
import { countCases } from './store-counts.js';
import { entryCases } from './store-entries.js';
import { guardCases } from './store-guards.js';
import { listCases } from './store-lists.js';
import { queueCases } from './store-queues.js';

/** The store that a contract suite tests. */
export interface StoreContractOptions {
  /** Opens the store. Called for each case. It may have the contents of earlier cases. */
  readonly open: () => Store | Promise<Store>;
  /** Opens the same store again, as another process would. Default: the store that `open` returned. */
  readonly openAnother?: () => Store | Promise<Store>;
}

const optionTable = {
  open: { is: 'function', required: true },
  openAnother: 'function',
} as const satisfies OptionTable<StoreContractOptions>;

/**
 * Makes the cases that every store has to pass. Pass each to your test runner.
 *
 * @example
 * for (const { name, run } of storeContract({ open: () => memoryStore() })) test(name, run);
 */
export function storeContract(options: StoreContractOptions): readonly ContractCase[] {
  const { open, openAnother } = readOptions('storeContract', options, optionTable);
  const all: StoreCases = { ...entryCases, ...listCases, ...countCases, ...queueCases, ...guardCases };
  return Object.entries(all).map(([name, test]) => ({
    name,
    async run() {
      const store = await open();
      const other = (await openAnother?.()) ?? store;
      try {
        await test({ store, other, group: uniqueName() });
      } finally {
        await store.close();
        if (other !== store) await other.close();
      }
    },
  }));
}
