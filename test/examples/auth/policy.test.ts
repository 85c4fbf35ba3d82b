import { inProcess } from 'fullmcp';
import { expect, test } from 'vitest';
import { server } from '../../../examples/caller/policy.js';
import { policyInTests } from '../../../examples/caller/policy-in-tests.js';

test('the code that docs/policy.md shows for tests passes', async () => {
  await policyInTests();
});

test('the policy of docs/policy.md asks as the page shows, and refuses interns', async () => {
  const transfer = { name: 'transfer', arguments: { from: 'ada', to: 'eve', amount: 250 } };
  const capabilities = { elicitation: {} };
  const ada = inProcess(server, { caller: { subject: 'ada' }, capabilities });
  const asked = await ada('tools/call', transfer);
  expect(asked).toMatchObject({
    inputRequests: {
      'fullmcp/approval': {
        params: {
          message: [
            'Do you approve this call of the tool "transfer"?',
            '',
            '    Reason: Transfers of more than 100 need a person.',
            '',
            '    from: "ada"',
            '    to: "eve"',
            '    amount: 250',
          ].join('\n'),
        },
      },
    },
  });
  const intern = inProcess(server, { caller: { subject: 'ian', claims: { role: 'intern' } }, capabilities });
  await expect(intern('tools/call', transfer)).rejects.toThrow('Unknown tool: transfer');
  expect(await intern('tools/call', { name: 'balance', arguments: { of: 'eve' } })).not.toHaveProperty(
    'isError',
  );
});
