import { execFileSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createServer, inProcess, tool } from 'fullmcp';
import { expect, it, onTestFinished, vi } from 'vitest';

// `npm run flows` would show nothing if the servers did not have the middleware: these two fail then.

const isOn =
  process.env['NODE_OPTIONS']?.includes('everywhere/register.js') === true &&
  process.env['FLOWS'] !== 'mounted';
const LONG = 100_000;

it.runIf(isOn)('a server of a test has every middleware: its large results are shortened', async () => {
  vi.stubEnv('FLOWS_MAX_CHARS', '10000');
  onTestFinished(() => void vi.unstubAllEnvs());
  const server = createServer({
    name: 'long',
    version: '1.0.0',
    tools: { long: tool({ run: () => 'x'.repeat(LONG) }) },
  });
  const result = await inProcess(server)('tools/call', { name: 'long' });
  expect(JSON.stringify(result)).toContain('output://');
  await server.close();
});

it('a server of a process of a test has it, too', () => {
  const program = `
    import { createServer, inProcess, tool } from 'fullmcp';
    const tools = { long: tool({ run: () => 'x'.repeat(${LONG}) }) };
    const server = createServer({ name: 'long', version: '1.0.0', tools });
    console.log(JSON.stringify(await inProcess(server)('tools/call', { name: 'long' })));
    await server.close();`;
  const register = new URL('./everywhere/register.js', import.meta.url).href;
  const output = execFileSync(
    process.execPath,
    [`--import=${register}`, '--input-type=module', '--eval', program],
    {
      cwd: fileURLToPath(new URL('../../../', import.meta.url)),
      encoding: 'utf8',
      env: { ...process.env, FLOWS_MAX_CHARS: '10000' },
    },
  );
  expect(output.includes('output://')).toBe(true);
});
