import { connect } from 'fullmcp/client';
import type { server } from './server.ts';

const client = await connect<typeof server>(process.argv[2]);
const { sum } = await client.tool.add({ a: 2, b: 40 }); // the compiler knows the arguments and the result
console.log(`2 + 40 = ${sum}`);
await client.close();
