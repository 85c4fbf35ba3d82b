// Twenty jobs as people give them to a model: the searches that find the tools, the program that a model writes, and the right end.

import { AREAS, COUNTRIES, changeOf, type Row, rowsOf } from './company.js';

/** A job. */
export interface Job {
  readonly job: string;
  /** The queries of the model. */
  readonly search: readonly string[];
  readonly program: string;
  /** The value that the program must return. */
  readonly value: () => unknown;
  /** The changes that the API must get, in any order. Default: none. */
  readonly changes?: () => readonly string[];
}

/** A loop over pages, as a model writes it. */
const ALL = `const all = async (list, filter = {}) => {
  const items = [];
  for (;;) {
    const page = await list({ ...filter, offset: items.length });
    items.push(...page.items);
    if (page.items.length === 0 || items.length >= page.total) return items;
  }
};
`;

const sum = (rows: readonly Row[]): number => rows.reduce((total, { amount }) => total + amount, 0);
const count = (names: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};
const patch = (path: string, body: object): string => changeOf('PATCH', path, body);
const post = (path: string, body: object): string => changeOf('POST', path, body);
const overdue = (): readonly Row[] =>
  rowsOf('billing', 'invoices').filter(({ status, amount }) => status === 'overdue' && amount > 5000);
const unowned = (): readonly Row[] => rowsOf('support', 'cases').filter(({ owner }) => owner === '');
const oldAlerts = (): readonly Row[] =>
  rowsOf('fleet', 'alerts').filter(({ status, created }) => status === 'closed' && created < '2024-06-01');
const requests = (): readonly Row[] =>
  rowsOf('procurement', 'requests').filter(({ status }) => status === 'open');
const weekends = (): readonly Row[] =>
  rowsOf('marketing', 'schedules').filter(({ created }) => [0, 6].includes(new Date(created).getUTCDay()));
const monday = (created: string): string => {
  const day = new Date(created);
  day.setUTCDate(day.getUTCDate() + (day.getUTCDay() === 6 ? 2 : 1));
  return day.toISOString().slice(0, 10);
};
const trips = (): readonly Row[] =>
  rowsOf('travel', 'orders').filter(({ owner, status }) => owner === 'eva' && status !== 'closed');
const oldPolicies = (): Record<string, string[]> => {
  const byOwner: Record<string, string[]> = {};
  for (const { owner, created, id } of rowsOf('compliance', 'policies'))
    if (created < '2024-07-01' && owner !== '') byOwner[owner] = [...(byOwner[owner] ?? []), id];
  return byOwner;
};

export const jobs: readonly Job[] = [
  {
    job: 'What do customers owe us in each country, by open invoices?',
    search: ['list invoices of billing'],
    program: `${ALL}const totals = {};
for (const { country, amount } of await all(tools.list_billing_invoices, { status: 'open' }))
  totals[country] = (totals[country] ?? 0) + amount;
return totals;`,
    value: () => {
      const open = rowsOf('billing', 'invoices').filter(({ status }) => status === 'open');
      return Object.fromEntries(
        COUNTRIES.map((country) => [country, open.filter((row) => row.country === country)] as const)
          .filter(([, rows]) => rows.length > 0)
          .map(([country, rows]) => [country, sum(rows)]),
      );
    },
  },
  {
    job: 'Give every overdue invoice above 5,000 euros the highest priority.',
    search: ['list invoices of billing', 'change an invoice of billing'],
    program: `${ALL}const late = (await all(tools.list_billing_invoices, { status: 'overdue' })).filter((one) => one.amount > 5000);
await Promise.all(late.map(({ id }) => tools.update_billing_invoice({ id, priority: 5 })));
return { changed: late.length };`,
    value: () => ({ changed: overdue().length }),
    changes: () => overdue().map(({ id }) => patch(`/billing/invoices/${id}`, { priority: 5 })),
  },
  {
    job: 'Assign the support cases that nobody has to Ada and Ben in turn.',
    search: ['list cases of support', 'change a case of support'],
    program: `${ALL}const people = ['ada', 'ben'];
const cases = (await all(tools.list_support_cases)).filter((one) => one.owner === '');
for (const [at, { id }] of cases.entries()) await tools.update_support_case({ id, owner: people[at % 2] });
return cases.length;`,
    value: () => unowned().length,
    changes: () =>
      unowned().map(({ id }, at) => patch(`/support/cases/${id}`, { owner: ['ada', 'ben'][at % 2] })),
  },
  {
    job: 'Delete the closed alerts of the fleet from before June 2024.',
    search: ['list alerts of fleet', 'delete an alert of fleet'],
    program: `${ALL}const old = (await all(tools.list_fleet_alerts, { status: 'closed' })).filter(({ created }) => created < '2024-06-01');
const replies = await Promise.all(old.map(({ id }) => tools.delete_fleet_alert({ id })));
return replies.filter(({ deleted }) => deleted).length;`,
    value: () => oldAlerts().length,
    changes: () => oldAlerts().map(({ id }) => `DELETE /fleet/alerts/${id}`),
  },
  {
    job: 'Renew the legal contract contract-7: a copy with " (renewed)" behind its name, and close the old one.',
    search: ['get a contract of legal', 'create a contract of legal', 'change a contract of legal'],
    program: `const { id, status, created, ...rest } = await tools.get_legal_contract({ id: 'contract-7' });
const renewed = await tools.create_legal_contract({ ...rest, name: rest.name + ' (renewed)' });
await tools.update_legal_contract({ id, status: 'closed' });
return { id: renewed.id, status: renewed.status, name: renewed.name };`,
    value: () => ({
      id: 'contract-61',
      status: 'open',
      name: `${rowsOf('legal', 'contracts')[6]?.name} (renewed)`,
    }),
    changes: () => {
      const { id, status, created, ...rest } = rowsOf('legal', 'contracts')[6] as Row;
      return [
        post('/legal/contracts', { ...rest, name: `${rest.name} (renewed)` }),
        patch('/legal/contracts/contract-7', { status: 'closed' }),
      ];
    },
  },
  {
    job: 'Which accounts in Germany have an open shipping order?',
    search: ['list orders of shipping', 'get an account of shipping'],
    program: `${ALL}const orders = await all(tools.list_shipping_orders, { status: 'open' });
const ids = [...new Set(orders.map((one) => one.account_id))];
const accounts = await Promise.all(ids.map((id) => tools.get_shipping_account({ id })));
return accounts.filter((one) => one.country === 'DE').map((one) => one.name).sort();`,
    value: () => {
      const open = rowsOf('shipping', 'orders').filter(({ status }) => status === 'open');
      const ids = new Set(open.map(({ account_id }) => account_id));
      return rowsOf('shipping', 'accounts')
        .filter(({ id, country }) => country === 'DE' && ids.has(id))
        .map(({ name }) => name)
        .sort();
    },
  },
  {
    job: 'The three sales accounts with the largest orders in total, with their names.',
    search: ['list orders of sales', 'get an account of sales'],
    program: `${ALL}const sums = new Map();
for (const { account_id, amount } of await all(tools.list_sales_orders))
  sums.set(account_id, (sums.get(account_id) ?? 0) + amount);
const top = [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, 3);
return Promise.all(top.map(async ([id, total]) => ({ name: (await tools.get_sales_account({ id })).name, total })));`,
    value: () => {
      const orders = rowsOf('sales', 'orders');
      return [...new Set(orders.map(({ account_id }) => account_id))]
        .map((id) => ({ id, total: sum(orders.filter(({ account_id }) => account_id === id)) }))
        .sort((one, other) => other.total - one.total || (one.id < other.id ? -1 : 1))
        .slice(0, 3)
        .map(({ id, total }) => ({
          name: rowsOf('sales', 'accounts').find((row) => row.id === id)?.name,
          total,
        }));
    },
  },
  {
    job: 'In which of sales, marketing, hr, legal and travel do the invoices exceed the budgets?',
    search: ['sales', 'marketing', 'hr', 'legal', 'travel'].flatMap((area) => [
      `list budgets of ${area}`,
      `list invoices of ${area}`,
    ]),
    program: `${ALL}const total = async (name) => (await all(tools[name])).reduce((sum, { amount }) => sum + amount, 0);
const over = [];
for (const area of ['sales', 'marketing', 'hr', 'legal', 'travel']) {
  const [budgets, invoices] = await Promise.all([total(\`list_\${area}_budgets\`), total(\`list_\${area}_invoices\`)]);
  if (invoices > budgets) over.push({ area, by: invoices - budgets });
}
return over;`,
    value: () =>
      ['sales', 'marketing', 'hr', 'legal', 'travel']
        .map((area) => ({ area, by: sum(rowsOf(area, 'invoices')) - sum(rowsOf(area, 'budgets')) }))
        .filter(({ by }) => by > 0),
  },
  {
    job: 'The median amount of the members of hr, for each person in charge.',
    search: ['list members of hr'],
    program: `${ALL}const groups = Object.groupBy(await all(tools.list_hr_members), ({ owner }) => owner || 'nobody');
const median = (numbers) => {
  const sorted = numbers.sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
return Object.fromEntries(Object.keys(groups).sort().map((owner) => [owner, median(groups[owner].map((one) => one.amount))]));`,
    value: () => {
      const rows = rowsOf('hr', 'members').map(({ owner, amount }) => ({ owner: owner || 'nobody', amount }));
      const owners = [...new Set(rows.map(({ owner }) => owner))].sort();
      return Object.fromEntries(
        owners.map((owner) => {
          const of = rows
            .filter((row) => row.owner === owner)
            .map(({ amount }) => amount)
            .sort((one, other) => one - other);
          const [low, high] = [of[Math.ceil(of.length / 2) - 1], of[Math.floor(of.length / 2)]];
          return [owner, ((low as number) + (high as number)) / 2];
        }),
      );
    },
  },
  {
    job: 'Write a report of analytics with the number of open cases of support, by priority.',
    search: ['list cases of support', 'create a report of analytics'],
    program: `${ALL}const open = await all(tools.list_support_cases, { status: 'open' });
const parts = [5, 4, 3, 2, 1].map((priority) => priority + ': ' + open.filter((one) => one.priority === priority).length);
const { id } = await tools.create_analytics_report({ name: 'Open cases ' + parts.join(', ') });
return id;`,
    value: () => 'report-61',
    changes: () => {
      const open = rowsOf('support', 'cases').filter(({ status }) => status === 'open');
      const parts = [5, 4, 3, 2, 1].map(
        (p) => `${p}: ${open.filter(({ priority }) => priority === p).length}`,
      );
      return [post('/analytics/reports', { name: `Open cases ${parts.join(', ')}` })];
    },
  },
  {
    job: 'Which assets of the inventory have the same name?',
    search: ['list assets of inventory'],
    program: `${ALL}interface Asset { id: string; name: string }
const byName = new Map<string, string[]>();
for (const { id, name } of (await all(tools.list_inventory_assets)) as Asset[])
  byName.set(name, [...(byName.get(name) ?? []), id]);
return Object.fromEntries([...byName].filter(([, ids]) => ids.length > 1));`,
    value: () => {
      const rows = rowsOf('inventory', 'assets');
      const counts = count(rows.map(({ name }) => name));
      const names = Object.keys(counts).filter((name) => (counts[name] ?? 0) > 1);
      return Object.fromEntries(
        names.map((name) => [name, rows.filter((row) => row.name === name).map(({ id }) => id)]),
      );
    },
  },
  {
    job: 'Which of the documents document-3, document-99 and document-60 of legal exist?',
    search: ['get a document of legal'],
    program: `const found = {};
for (const id of ['document-3', 'document-99', 'document-60']) {
  try {
    found[id] = (await tools.get_legal_document({ id })).name;
  } catch (error) {
    found[id] = error instanceof ToolError ? 'missing' : 'broken';
  }
}
return found;`,
    value: () => ({
      'document-3': rowsOf('legal', 'documents')[2]?.name,
      'document-99': 'missing',
      'document-60': rowsOf('legal', 'documents')[59]?.name,
    }),
  },
  {
    job: 'Close the open requests of procurement below 1,000 euros, and create an approval for each of the others.',
    search: [
      'list requests of procurement',
      'change a request of procurement',
      'create an approval of procurement',
    ],
    program: `${ALL}const result = { closed: 0, approvals: 0 };
for (const { id, amount } of await all(tools.list_procurement_requests, { status: 'open' }))
  if (amount < 1000) {
    await tools.update_procurement_request({ id, status: 'closed' });
    result.closed++;
  } else {
    await tools.create_procurement_approval({ name: 'Approve ' + id, amount });
    result.approvals++;
  }
return result;`,
    value: () => {
      const closed = requests().filter(({ amount }) => amount < 1000).length;
      return { closed, approvals: requests().length - closed };
    },
    changes: () =>
      requests().map(({ id, amount }) =>
        amount < 1000
          ? patch(`/procurement/requests/${id}`, { status: 'closed' })
          : post('/procurement/approvals', { name: `Approve ${id}`, amount }),
      ),
  },
  {
    job: 'Move the schedules of marketing that are on a weekend to the Monday after it.',
    search: ['list schedules of marketing', 'change a schedule of marketing'],
    program: `${ALL}let moved = 0;
for (const { id, created } of await all(tools.list_marketing_schedules)) {
  const day = new Date(created);
  const days = { 6: 2, 0: 1 }[day.getDay()];
  if (days === undefined) continue;
  day.setDate(day.getDate() + days);
  await tools.update_marketing_schedule({ id, created: day.toISOString().slice(0, 10) });
  moved++;
}
return moved;`,
    value: () => weekends().length,
    changes: () =>
      weekends().map(({ id, created }) => patch(`/marketing/schedules/${id}`, { created: monday(created) })),
  },
  {
    job: 'Create one task of compliance for each person in charge of policies from before July 2024, with their ids.',
    search: ['list policies of compliance', 'create a task of compliance'],
    program: `${ALL}const byOwner = {};
for (const { id, owner, created } of await all(tools.list_compliance_policies))
  if (created < '2024-07-01' && owner) (byOwner[owner] ??= []).push(id);
await Promise.all(Object.entries(byOwner).map(([owner, ids]) =>
  tools.create_compliance_task({ name: 'Review ' + ids.join(', '), owner })));
return byOwner;`,
    value: oldPolicies,
    changes: () =>
      Object.entries(oldPolicies()).map(([owner, ids]) =>
        post('/compliance/tasks', { name: `Review ${ids.join(', ')}`, owner }),
      ),
  },
  {
    job: 'How many alerts of security were there in each month of 2025?',
    search: ['list alerts of security'],
    program: `${ALL}const months = {};
for (const { created } of await all(tools.list_security_alerts))
  if (created.startsWith('2025')) months[created.slice(0, 7)] = (months[created.slice(0, 7)] ?? 0) + 1;
return Object.fromEntries(Object.entries(months).sort());`,
    value: () => {
      const dates = rowsOf('security', 'alerts').map(({ created }) => created.slice(0, 7));
      return count(dates.filter((month) => month.startsWith('2025')).sort());
    },
  },
  {
    job: 'The average invoice of payroll in each country, in whole euros.',
    search: ['list invoices of payroll'],
    program: `${ALL}const rows = await all(tools.list_payroll_invoices);
const countries = [...new Set(rows.map((row) => row.country))].sort();
return countries.map((country) => {
  const amounts = rows.filter((row) => row.country === country).map((row) => row.amount);
  return [country, Math.round(amounts.reduce((a, b) => a + b, 0) / amounts.length)];
});`,
    value: () =>
      [...COUNTRIES]
        .sort()
        .map((country) => [country, rowsOf('payroll', 'invoices').filter((row) => row.country === country)])
        .map(([country, rows]) => [country, Math.round(sum(rows as Row[]) / (rows as Row[]).length)]),
  },
  {
    job: 'Close all trips of Eva, and check that none is left.',
    search: ['list orders of travel', 'change an order of travel'],
    program: `${ALL}const trips = (await all(tools.list_travel_orders, { owner: 'eva' })).filter((one) => one.status !== 'closed');
await Promise.all(trips.map(({ id }) => tools.update_travel_order({ id, status: 'closed' })));
const left = (await all(tools.list_travel_orders, { owner: 'eva' })).filter((one) => one.status !== 'closed');
return { closed: trips.length, left: left.length };`,
    value: () => ({ closed: trips().length, left: 0 }),
    changes: () => trips().map(({ id }) => patch(`/travel/orders/${id}`, { status: 'closed' })),
  },
  {
    job: 'The longest time in days between two reports of energy.',
    search: ['list reports of energy'],
    program: `${ALL}const days = (await all(tools.list_energy_reports)).map(({ created }) => Date.parse(created) / 86_400_000).sort((a, b) => a - b);
return Math.max(...days.slice(1).map((day, at) => day - days[at]));`,
    value: () => {
      const days = rowsOf('energy', 'reports')
        .map(({ created }) => Date.parse(created) / 86_400_000)
        .sort((one, other) => one - other);
      return days.reduce((longest, day, at) => Math.max(longest, day - (days[at - 1] ?? day)), 0);
    },
  },
  {
    job: 'How many members does each area have in Japan?',
    search: AREAS.map((area) => `list members of ${area}`),
    program: `const areas = '${AREAS.join(' ')}'.split(' ');
const totals = await Promise.all(areas.map(async (area) => [area, (await tools[\`list_\${area}_members\`]({ country: 'JP' })).total]));
return Object.fromEntries(totals);`,
    value: () =>
      Object.fromEntries(
        AREAS.map((area) => [area, rowsOf(area, 'members').filter(({ country }) => country === 'JP').length]),
      ),
  },
];
