import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { rows } from '../../interop/support/connections.js';
import { officialClientTests } from '../../interop/support/scenarios.js';
import { fixture, type HttpProcess, startHttp } from '../../support/processes.js';

// Every scenario with every official client through a proxy, whose server speaks either era, over HTTP or a pipe.

const program = fileURLToPath(new URL('../../fixtures/interop-proxy.js', import.meta.url));

describe.each([
  ['HTTP 2026-07-28', 'http', []],
  ['HTTP 2025-11-25', 'http', ['2025-11-25']],
  ['stdio 2026-07-28', 'stdio', []],
  ['stdio 2025-11-25', 'stdio', ['2025-11-25']],
] as const)('through a proxy, over %s', (_name, over, revision) => {
  let behind: HttpProcess | undefined;
  let between: HttpProcess;

  beforeAll(async () => {
    behind = over === 'http' ? await startHttp(fixture, 'http') : undefined;
    between = await startHttp(program, behind?.url ?? 'stdio', ...revision);
  });

  afterAll(async () => {
    expect(await between.stop()).toBe(0);
    await behind?.stop();
  });

  officialClientTests(
    rows
      .filter((row) => row.over === 'http')
      .map((row) => ({ ...row, behind: { over, modern: revision.length === 0 } })),
    () => between.url,
  );
});
