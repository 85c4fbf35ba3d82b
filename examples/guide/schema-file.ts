// A tool whose schema is in a file.

// #region file
import { readFileSync } from 'node:fs';
import { createServer, jsonSchema, tool } from 'fullmcp';

const file = new URL('./order.schema.json', import.meta.url);
const schema = jsonSchema<{ item: string; count: number }>(JSON.parse(readFileSync(file, 'utf8')));

export const order = tool({ input: schema, run: ({ item, count }) => `${count} × ${item}` });
// #endregion

export default createServer({ name: 'guide-orders', version: '1.0.0', tools: { order } });
