// Asks a server for its definitions.
import server from '../basic-server/server.js';

// #region definitions
const { tools } = server.definitions;

export const names = (await tools.list()).map(({ name }) => name);
export const add = await tools.get('add'); // { name: 'add', description: …, inputSchema: … }
export const checked = await tools.validate('add', { a: 1, b: 'two' });
// { ok: false, field: 'b', message: 'Invalid arguments for add. b: …' }
// #endregion
