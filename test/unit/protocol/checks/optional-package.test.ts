import { expect, test } from 'vitest';
import {
  explainImport,
  exportsOf,
  isNotInstalled,
} from '../../../../src/protocol/checks/optional-package.js';

const failing = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code && { code });

test('a package that is not installed is recognized in the errors of import, of require, of Bun and of Deno', async () => {
  const error = await import('no-such-package-of-fullmcp' as string).catch((thrown: unknown) => thrown);
  expect(isNotInstalled(error, 'no-such-package-of-fullmcp')).toBe(true);
  expect(isNotInstalled(failing("Cannot find module 'pg'\nRequire stack: …", 'MODULE_NOT_FOUND'), 'pg')).toBe(
    true,
  );
  expect(isNotInstalled(failing("Cannot find package 'pg' from '/x.js'", 'ERR_MODULE_NOT_FOUND'), 'pg')).toBe(
    true,
  );
  expect(isNotInstalled(failing('Import "pg" not a dependency'), 'pg')).toBe(true);
});

test('a package that is installed and broken is not taken for one that is not installed', () => {
  const inside = failing("Cannot find package 'pg-types' imported from /pg/index.js", 'ERR_MODULE_NOT_FOUND');
  expect(isNotInstalled(inside, 'pg')).toBe(false);
  expect(explainImport(inside, { user: 'x', name: 'pg' })).toBe(inside);
  expect(isNotInstalled(failing("'pg' is not supported here", 'EACCES'), 'pg')).toBe(false);
  expect(isNotInstalled("Cannot find module 'pg'", 'pg')).toBe(false);
});

test('the exports of a CommonJS package are found, whether a loader names them or has only the default', () => {
  const pg = { Pool: class {} };
  expect(exportsOf<typeof pg>(pg, 'Pool').Pool).toBe(pg.Pool);
  expect(exportsOf<typeof pg>({ default: pg }, 'Pool').Pool).toBe(pg.Pool);
});
