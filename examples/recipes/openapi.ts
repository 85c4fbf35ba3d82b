import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { createServer } from 'fullmcp';
import { fromOpenAPI } from 'fullmcp/openapi';

const document = await readFile(process.env['OPENAPI_FILE'] ?? 'openapi.json', 'utf8'); // or YAML, with `yaml` installed
const wanted = new Set(['listPets', 'getPet', 'addPet', 'listOwners', 'getOwner']);

const api = await fromOpenAPI(document, {
  baseUrl: process.env['API_URL'] ?? 'https://api.example.com',
  credentials: { apiToken: process.env['API_TOKEN'] ?? '' }, // by the name of the security scheme in the document
  rules: [
    // The first rule that matches decides. A model chooses well among five tools, and badly among two hundred.
    { when: ({ operationId }) => wanted.has(operationId ?? ''), as: 'tool' },
    { as: 'nothing' },
  ],
});

export default createServer({ ...api, name: 'pets' });
