import { connect } from 'fullmcp/client';
import { knownTags } from 'fullmcp/middleware';
import type { rolledOut } from './transform.js';

/** A client whose calls run the definitions that it has seen, or nothing. `show` gets the names of the tools after each change. */
// #region client
export async function follow(server: typeof rolledOut, show: (names: readonly string[]) => void) {
  const list = async (): Promise<void> => {
    const tools = await client.tools().all();
    show(tools.map(({ name }) => name));
  };
  const client = await connect(server, { use: [knownTags({ onStale: () => void list() })] });
  await list();
  return client;
}
// #endregion client
