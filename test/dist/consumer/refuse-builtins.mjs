// With `node --import`, every import that ends at a Node built-in fails with an error that names the importer.
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  if (found.url.startsWith('node:')) throw new Error(`${context.parentURL} loads ${found.url}`);
  // Modules that CommonJS code requires do not pass through this hook.
  if (found.format === 'commonjs') throw new Error(`${context.parentURL} loads CommonJS: ${found.url}`);
  return found;
}
