// The API of a large company: 25 areas with 20 collections each, and five operations on each collection.

import { seeded } from '../../../../src/testing/faults/seeded.js';

/** A row of a collection. */
export interface Row {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly owner: string;
  readonly country: string;
  readonly priority: number;
  readonly amount: number;
  readonly created: string;
  readonly account_id: string;
}

export const AREAS: readonly string[] =
  `sales billing shipping support hr marketing inventory security finance legal projects
  analytics fleet facilities training procurement quality travel media partners payroll research compliance energy
  customs`.split(/\s+/);
const COLLECTIONS: readonly string[] =
  `accounts contracts documents approvals tasks notes reports budgets alerts
  policies teams members requests cases reviews schedules invoices orders assets locations`.split(/\s+/);
const STATUSES: readonly string[] = ['open', 'active', 'overdue', 'closed'];
const OWNERS: readonly string[] = ['ada', 'ben', 'cleo', 'dan', 'eva', 'finn', 'gina', 'hugo'];
export const COUNTRIES: readonly string[] = ['DE', 'FR', 'US', 'JP', 'BR'];

/** The rows of each collection. */
const ROWS = 60;
/** The rows of a page. */
export const PAGE = 50;

/** The rows of a collection as they are before any call, the same in every run. */
export function rowsOf(area: string, collection: string): readonly Row[] {
  const random = seeded(AREAS.indexOf(area) * 100 + COLLECTIONS.indexOf(collection));
  const pick = (items: readonly string[]): string => items[Math.floor(random() * items.length)] as string;
  const one = singular(collection);
  return Array.from({ length: ROWS }, (_, at) => ({
    id: `${one}-${at + 1}`,
    name: `${area} ${one} ${1 + Math.floor(random() * 50)}`,
    status: pick(STATUSES),
    owner: random() < 0.1 ? '' : pick(OWNERS),
    country: pick(COUNTRIES),
    priority: 1 + Math.floor(random() * 5),
    amount: Math.floor(random() * 10_000),
    created: new Date(Date.UTC(2024, 0, 1 + Math.floor(random() * 700))).toISOString().slice(0, 10),
    account_id: `account-${1 + Math.floor(random() * ROWS)}`,
  }));
}

export function singular(collection: string): string {
  return collection === 'policies' ? 'policy' : collection.slice(0, -1);
}

/** A request that changes something, as one line. */
export function changeOf(method: string, path: string, body?: object): string {
  const sorted = body && JSON.stringify(Object.fromEntries(Object.entries(body).sort()));
  return [method, path, ...(sorted === undefined ? [] : [sorted])].join(' ');
}

const text = { type: 'string' };
const fields = {
  name: { ...text, description: 'The name that people see' },
  status: { ...text, enum: STATUSES },
  owner: { ...text, description: 'The person in charge; empty if there is none' },
  country: { ...text, enum: COUNTRIES },
  priority: { type: 'integer', minimum: 1, maximum: 5, description: '5 is the most urgent' },
  amount: { type: 'integer', description: 'In euros' },
  created: { ...text, format: 'date' },
  account_id: { ...text, description: 'The account that it belongs to' },
};

/** The document: 2,500 operations. */
export function companyDocument(): object {
  const paths = AREAS.flatMap((area) =>
    COLLECTIONS.flatMap((collection) => [
      [`/${area}/${collection}`, collectionPath(area, collection)],
      [`/${area}/${collection}/{id}`, itemPath(area, collection)],
    ]),
  );
  return {
    openapi: '3.0.3',
    info: { title: 'Company', version: '1', description: 'Everything that the company keeps' },
    paths: Object.fromEntries(paths),
  };
}

function collectionPath(area: string, collection: string): object {
  const one = singular(collection);
  const row = rowSchema(area, one);
  return {
    get: {
      operationId: `list_${area}_${collection}`,
      summary: `List the ${collection} of ${area}`,
      description: `Lists the ${collection} of ${area}, a page of at most ${PAGE} at a time, with the number of all that match.`,
      tags: [area],
      parameters: [
        ...['status', 'owner', 'country'].map((name) => ({
          in: 'query',
          name,
          schema: fields[name as 'owner'],
        })),
        { in: 'query', name: 'offset', schema: { type: 'integer', minimum: 0, default: 0 } },
      ],
      responses: reply({
        type: 'object',
        required: ['total', 'items'],
        properties: { total: { type: 'integer' }, items: { type: 'array', items: row } },
      }),
    },
    post: {
      operationId: `create_${area}_${one}`,
      summary: `Create a ${one} of ${area}`,
      description: `Creates a ${one} of ${area}, with the status open.`,
      tags: [area],
      requestBody: body(['name']),
      responses: reply(row),
    },
  };
}

function itemPath(area: string, collection: string): object {
  const one = singular(collection);
  const row = rowSchema(area, one);
  const parameters = [{ in: 'path', name: 'id', required: true, schema: text }];
  return {
    get: {
      operationId: `get_${area}_${one}`,
      summary: `Get a ${one} of ${area}`,
      description: `Gets a ${one} of ${area} by its id.`,
      tags: [area],
      parameters,
      responses: reply(row),
    },
    patch: {
      operationId: `update_${area}_${one}`,
      summary: `Change a ${one} of ${area}`,
      description: `Changes the fields of a ${one} of ${area} that are given.`,
      tags: [area],
      parameters,
      requestBody: body([]),
      responses: reply(row),
    },
    delete: {
      operationId: `delete_${area}_${one}`,
      summary: `Delete a ${one} of ${area}`,
      description: `Deletes a ${one} of ${area}.`,
      tags: [area],
      parameters,
      responses: reply({
        type: 'object',
        required: ['deleted'],
        properties: { deleted: { type: 'boolean' } },
      }),
    },
  };
}

function rowSchema(area: string, one: string): object {
  return {
    type: 'object',
    title: `${capital(area)}${capital(one)}`,
    required: ['id', ...Object.keys(fields)],
    properties: { id: text, ...fields },
  };
}

function capital(word: string): string {
  return `${word[0]?.toUpperCase()}${word.slice(1)}`;
}

function reply(schema: object): object {
  return { 200: { description: 'Done', content: { 'application/json': { schema } } } };
}

function body(required: readonly string[]): object {
  return {
    required: true,
    content: {
      'application/json': {
        schema: { type: 'object', properties: fields, ...(required.length > 0 && { required }) },
      },
    },
  };
}
