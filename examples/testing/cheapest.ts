import type { Client } from 'fullmcp/client';

/** The cheapest of these items. Items without a price are ignored. */
export async function cheapest(client: Client, items: readonly string[]): Promise<string | undefined> {
  const results = await Promise.all(
    items.map((item) => client.callTool('price', { item }).catch(() => undefined)),
  );
  const offers = results
    .filter((result) => result !== undefined && !result.isError)
    .map((result) => result?.data as { item: string; price: number });
  return offers.sort((a, b) => a.price - b.price)[0]?.item;
}
