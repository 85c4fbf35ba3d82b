import * as middleware from 'fullmcp/middleware';
import { expect, it } from 'vitest';

/** Functions of the entry that are not middleware. */
const OTHERS = ['auditChain', 'verifyAudit'];

it('every built-in middleware has a row in the bench', async () => {
  const path = new URL('../../../bench/middleware/kinds.js', import.meta.url).href;
  const { kinds } = (await import(path)) as { readonly kinds: Readonly<Record<string, unknown>> };
  const names = Object.entries(middleware)
    .filter(([name, value]) => typeof value === 'function' && !OTHERS.includes(name))
    .map(([name]) => name);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !(name in kinds))).toEqual([]);
});
