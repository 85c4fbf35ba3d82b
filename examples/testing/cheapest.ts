import type { Client } from 'fullmcp/client';

/** The cheapest of these items, as far as the shop can tell. */
export async function cheapest(client: Client, items: readonly string[]): Promise<string | undefined> {
  const results = await Promise.all(
    items.map((item) => client.callTool('price', { item }).catch(() => undefined)),
  );
  const found = results
    .filter((result) => result !== undefined && !result.isError)
    .map((result) => result?.data as { item: string; price: number });
  return found.sort((a, b) => a.price - b.price)[0]?.item;
}
