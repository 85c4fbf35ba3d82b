import { defineWith, McpError } from 'fullmcp';

export interface Order {
  readonly id: number;
  readonly account: string;
  readonly item: string;
}

/** Stands in for a database. */
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

// #region define-with
export const { tool, resource, prompt, createServer } = defineWith({
  lifespan: async function* () {
    const orders = new Orders();
    yield { orders };
    orders.close();
  },
  user: ({ request }) => {
    const account = request?.header('x-account');
    if (account === undefined) throw new McpError('invalid_request', 'Who are you? Send X-Account.');
    return { account };
  },
});
// #endregion
