import process from 'node:process';
import { connect } from 'fullmcp/client';

// Bakes bread at the replicas, and tells which process bakes which loaf. End that process meanwhile: another one continues.

const url = process.argv[2] ?? 'http://127.0.0.1:3000/mcp';
const client = await connect(url, { elicit: () => ({ action: 'accept', content: { kind: 'rye' } }) });

for (let call = 1; call <= 4; call++) console.log((await client.callTool('where')).text);
console.log((await client.callTool('order')).text);

const task = await client.startTool('bake', { loaves: 10 });
const { data } = await task.result({ onProgress: ({ message }) => console.log(message) });
console.log(
  'All loaves are baked, each of them once, by the processes',
  [...new Set(bakersOf(data))].join(', '),
);
await client.close();

function bakersOf(result: unknown): readonly number[] {
  return (result as { readonly bakers: readonly number[] }).bakers;
}
