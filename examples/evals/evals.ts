// #region cases
import { call, evals } from 'fullmcp/evals';
import billing from './server.js';

export default evals(billing, [
  {
    ask: 'Bill Ada 30 euros',
    expect: call('create_invoice', { customer: /ada/i, amount: 30 }),
    not: ['create_quote'],
  },
  { ask: 'What did we bill in all?', expect: 'list_invoices', answer: /1,?200/ },
  {
    ask: 'Close the oldest ticket',
    expect: [call('list_tickets'), call('close_ticket', { id: 'T-7' })],
    asks: { sure: true },
  },
  { ask: 'Thank you!', expect: [] },
]);
// #endregion
