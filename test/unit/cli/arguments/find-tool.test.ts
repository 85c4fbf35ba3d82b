import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { expect, onTestFinished, test } from 'vitest';
import { findTool } from '../../../../src/cli/arguments/check-arguments.js';

test('a tool of a server that does not start is reported with the reason of its server', async () => {
  const here = createServer({ name: 'here', version: '1', tools: { go: tool({ run: () => 'x' }) } });
  const broken = { command: process.execPath, args: ['-e', 'process.exit(3)'] };
  const client = await connect({ mcpServers: { here: { target: here }, broken } });
  onTestFinished(() => client.close());
  await expect(findTool(client, 'broken_go')).rejects.toThrow(/^broken: .*exit code 3/);
  await expect(findTool(client, 'here_gone')).rejects.toThrow(
    'No tool is called "here_gone". Did you mean "here_go"?',
  );
  expect(await findTool(client, 'here_go')).toMatchObject({ name: 'here_go' });
});
