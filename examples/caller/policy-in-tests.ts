import assert from 'node:assert/strict';
import { testClient } from 'fullmcp/testing';
import { server } from './policy.js';

export async function policyInTests(): Promise<void> {
  // #region tests
  const questions: string[] = [];
  await using client = await testClient(server, {
    caller: { subject: 'ada' },
    elicit({ message }) {
      questions.push(message);
      return { action: 'accept', content: { approve: true } };
    },
  });
  await assert.rejects(client.callTool('close_bank'), /Unknown tool/);

  const transfer = { from: 'ada', to: 'eve' } as const;
  await client.callTool('transfer', { ...transfer, amount: 20 });
  assert.deepEqual(questions, []);
  await client.callTool('transfer', { ...transfer, amount: 500 });
  assert.match(questions[0] ?? '', /the tool "transfer".*amount: 500/s);
  // #endregion
}
