// With `node --import`, every import that ends at a Node built-in fails, and names who asked for it.
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  if (found.url.startsWith('node:')) throw new Error(`${context.parentURL} loads ${found.url}`);
  // What CommonJS requires does not pass here.
  if (found.format === 'commonjs') throw new Error(`${context.parentURL} loads CommonJS: ${found.url}`);
  return found;
}
