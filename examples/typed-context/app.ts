import { kit } from 'fullmcp';

export interface Order {
  readonly id: number;
  readonly account: string;
  readonly item: string;
}

/** Stands for a database. */
export class Orders {
  #open = true;
  readonly #rows: Order[] = [
    { id: 1, account: 'ada', item: 'Compass' },
    { id: 2, account: 'bob', item: 'Lantern' },
  ];

  get isOpen(): boolean {
    return this.#open;
  }

  of(account: string): readonly Order[] {
    return this.#rows.filter((row) => row.account === account);
  }

  close(): void {
    this.#open = false;
  }
}

// #region kit
/** What `lifespan` yields, and what `context` makes for each call. */
export interface Types {
  readonly state: { readonly orders: Orders };
  readonly user: { readonly account: string };
}

export const { tool, resource, prompt } = kit<Types>();
// #endregion
