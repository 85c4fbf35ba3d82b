import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { rows } from '../../interop/support/connections.js';
import { officialClientTests } from '../../interop/support/scenarios.js';
import { fixture, type HttpProcess, startHttp } from '../../support/processes.js';

// Every scenario with every official client through a proxy or a gateway, whose server speaks either era, over HTTP or a pipe.

const program = fileURLToPath(new URL('../../fixtures/interop-proxy.js', import.meta.url));

describe.each([
  ['proxy', 'HTTP 2026-07-28', 'http', []],
  ['proxy', 'HTTP 2025-11-25', 'http', ['2025-11-25']],
  ['proxy', 'stdio 2026-07-28', 'stdio', []],
  ['proxy', 'stdio 2025-11-25', 'stdio', ['2025-11-25']],
  ['gateway', 'HTTP 2026-07-28', 'http', []],
  ['gateway', 'stdio 2025-11-25', 'stdio', ['2025-11-25']],
] as const)('through a %s, over %s', (kind, _name, over, revision) => {
  let behind: HttpProcess | undefined;
  let between: HttpProcess;

  beforeAll(async () => {
    behind = over === 'http' ? await startHttp(fixture, 'http') : undefined;
    between = await startHttp(program, behind?.url ?? 'stdio', kind, ...revision);
  });

  afterAll(async () => {
    expect(await between.stop()).toBe(0);
    await behind?.stop();
  });

  officialClientTests(
    rows
      .filter((row) => row.over === 'http')
      .map((row) => ({
        ...row,
        behind: { over, modern: revision.length === 0, isGateway: kind === 'gateway' },
      })),
    () => between.url,
  );
});
