import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testClient } from 'fullmcp/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { server as ownSink, table, verify } from '../../../examples/audit/own-sink.js';

// Runs the code that docs/audit.md shows.

test('the server of the page writes a log that its program verifies', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-audit-example-'));
  const path = join(folder, 'audit.jsonl');
  const { exitCode } = process;
  vi.stubEnv('AUDIT_PATH', path);
  vi.stubEnv('AUDIT_SECRET', '0123456789abcdef0123456789abcdef');
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    process.exitCode = exitCode;
    rmSync(folder, { recursive: true, force: true });
  });
  const { server } = await import('../../../examples/audit/server.js');
  {
    await using client = await testClient(server, { caller: { subject: 'ada' } });
    await client.callTool('pay', { iban: 'DE89370400440532013000', amount: 5 });
  }
  await server.close();
  const text = readFileSync(path, 'utf8');
  const entries = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(entries.find(({ name }) => name === 'pay')).toMatchObject({
    caller: { subject: 'ada' },
    params: { arguments: { iban: '[redacted]', amount: 5 } },
    outcome: 'ok',
  });
  await import('../../../examples/audit/verify.js');
  expect(log).toHaveBeenLastCalledWith(`${entries.length} entries, 0 problems`);
  expect(process.exitCode).toBe(0);
  writeFileSync(path, text.replace('"amount":5', '"amount":1'));
  vi.resetModules();
  await import('../../../examples/audit/verify.js');
  expect(error).toHaveBeenLastCalledWith(expect.stringContaining('was changed'));
  expect(process.exitCode).toBe(1);
});

test('the sink of the page has a chain of its own', async () => {
  {
    await using client = await testClient(ownSink);
    await client.callTool('hello');
  }
  expect(table.length).toBeGreaterThan(0);
  expect((await verify()).ok).toBe(true);
  table.pop();
  expect((await verify()).problems).toMatchObject([{ code: 'truncated' }]);
});
