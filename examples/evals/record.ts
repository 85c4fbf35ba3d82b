// Records the tape of this example, from a model that says what a script has: it shows how evals work, and not how good a model is.

import { fileURLToPath } from 'node:url';
import { mockModel } from 'fullmcp/testing';
import cases from './evals.js';

await using model = await mockModel(({ ask, results }) => {
  const [result] = results;
  if (ask.startsWith('Bill')) return result ? 'I have billed 30 euros to Ada.' : bill;
  if (ask.startsWith('What'))
    return result ? 'You billed 1,200 euros.' : { calls: [{ name: 'list_invoices' }] };
  if (ask.startsWith('Thank')) return 'You are welcome!';
  if (!result) return { calls: [{ name: 'list_tickets' }] };
  return result.text.startsWith('Closed')
    ? 'It is closed.'
    : { calls: [{ name: 'close_ticket', args: { id: 'T-7' } }] };
});
const bill = { calls: [{ name: 'create_invoice', args: { customer: 'Ada', amount: 30 } }] };

const report = await cases.run({
  tapes: fileURLToPath(new URL('evals.tapes', import.meta.url)),
  record: true,
  models: [`openai-chat:scripted@${model.url}`],
});
console.log(report.ok, report.spent);
