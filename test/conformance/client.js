// @ts-check
// The client that the official suite tests: ordinary use of `connect`. It detects the server's revision itself, and
// exits because nothing keeps it alive, without a call of process.exit.
import { deepStrictEqual, rejects, strictEqual } from 'node:assert';
import { connect } from 'fullmcp/client';
import { clientCredentials, enterprise, oauth, privateKeyJwt, workloadIdentity } from 'fullmcp/oauth';
import { skillsOf } from 'fullmcp/skills';

/** @typedef {import('fullmcp/client').Client} Client */

const {
  MCP_CONFORMANCE_SCENARIO: scenario = '',
  MCP_CONFORMANCE_CONTEXT: context = '{}',
  MCP_CONFORMANCE_PROTOCOL_VERSION: version = '',
} = process.env;
// The suite's servers of these revisions accept later ones as well, so they are used only where they are required.
const OLDER = ['2025-03-26', '2025-06-18'];

/**
 * Uses the server of each scenario as a program would. The suite checks the requests; the results are checked here.
 * @type {Record<string, (client: Client) => Promise<void>>}
 */
const scenarios = {
  async initialize(client) {
    deepStrictEqual(await client.tools().all(), []);
  },

  async tools_call(client) {
    await client.tools().all();
    strictEqual(await textOf(client, 'add_numbers', { a: 5, b: 3 }), 'The sum of 5 and 3 is 8');
  },

  async 'elicitation-sep1034-client-defaults'(client) {
    await client.tools().all();
    await textOf(client, 'test_client_elicitation_defaults');
  },

  async 'sse-retry'(client) {
    await client.tools().all();
    strictEqual(await textOf(client, 'test_reconnection'), 'Reconnection test completed successfully');
  },

  async 'request-metadata'(client) {
    deepStrictEqual(await client.tools().all(), []);
  },

  async 'sep-2322-client-request-state'(client) {
    await client.tools().all();
    // At the same time, so that the answers to one call could end up in another.
    const names = ['echo_state', 'no_state', 'unrelated', 'no_result_type'];
    const texts = await Promise.all(names.map((name) => textOf(client, `test_mrtr_${name}`)));
    deepStrictEqual(texts, ['echo-state-ok', 'no-state-ok', 'unrelated-ok', 'no-result-type-test-ok']);
  },

  async 'http-standard-headers'(client) {
    for await (const { name } of client.tools()) await textOf(client, name);
    for await (const { uri } of client.resources()) await client.readResource(uri);
    for await (const { name } of client.prompts()) await client.getPrompt(name);
  },

  async 'http-custom-headers'(client) {
    await client.tools().all();
    for (const { name, arguments: args } of JSON.parse(context).toolCalls) await textOf(client, name, args);
  },

  async 'http-invalid-tool-headers'(client) {
    const tools = await client.tools().all();
    for (const { name } of tools) await textOf(client, name, { region: 'us-west1' });
    deepStrictEqual(
      tools.map(({ name }) => name),
      ['valid_tool'],
    );
  },

  async 'json-schema-ref-no-deref'(client) {
    const tools = await client.tools().all();
    deepStrictEqual(
      tools.map(({ name }) => name),
      ['lookup_user'],
    );
  },

  async 'json-schema-2020-12-preservation'(client) {
    const tools = await client.tools().all();
    const rich = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    strictEqual(await textOf(client, 'json_schema_echo', { schema: rich?.inputSchema }), 'echoed');
  },

  async 'sep-2640-client-no-prefetch'(client) {
    strictEqual((await skillsOf(client).list().all()).length, 1);
  },
  'sep-2640-client-verify-digest': loadTampered,
  'sep-2640-client-verify-size': loadTampered,
  'sep-2640-client-verify-frontmatter': loadTampered,
};

/**
 * Loads a skill and would read its other files then.
 * @param {Client} client
 */
async function loadTampered(client) {
  const [skill] = await skillsOf(client).list().all();
  await rejects(async () => {
    await skill?.load();
    for (const path of skill?.paths ?? []) await skill?.read(path);
  }, /cannot be used/);
}

/** @param {Client} client */
async function callTestTool(client) {
  await client.tools().all();
  await textOf(client, 'test-tool');
}

const run = scenario.startsWith('auth/') ? callTestTool : scenarios[scenario];
if (run === undefined) throw new Error(`client.js has no function for the scenario "${scenario}".`);

const client = await connect(process.argv[2], {
  client: { name: 'fullmcp-conformance', version: '1.0.0' },
  // A user who confirms everything, and leaves all other fields at their defaults.
  elicit: ({ schema }) => ({ action: 'accept', content: asksToConfirm(schema) ? { confirmed: true } : {} }),
  sample: () => ({ role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'none' }),
  roots: ['file:///workspace'],
  ...(scenario.startsWith('auth/') && { auth: authFor(JSON.parse(context)) }),
  ...(OLDER.includes(version) && { revision: /** @type {import('fullmcp/client').Revision} */ (version) }),
});
try {
  strictEqual(client.server.revision, version);
  await run(client);
} finally {
  await client.close();
}

/**
 * @param {Client} client
 * @param {string} name
 * @param {object} [args]
 */
async function textOf(client, name, args) {
  const result = await client.callTool(name, args);
  result.unwrap();
  return result.text;
}

/**
 * The authorization that a program with these credentials would choose.
 * @param {Record<string, string>} given
 */
function authFor(given) {
  const client = { clientId: given.client_id ?? '', clientSecret: given.client_secret, issuer: given.issuer };
  if (given.idp_id_token) {
    return enterprise({
      ...client,
      identityProvider: {
        tokenEndpoint: given.idp_token_endpoint ?? '',
        issuer: given.idp_issuer,
        clientId: given.idp_client_id ?? '',
      },
      idToken: given.idp_id_token,
    });
  }
  if (given.valid_jwt) return workloadIdentity({ ...client, assertion: given.valid_jwt });
  if (given.private_key_pem) {
    const { private_key_pem: privateKey, signing_algorithm: algorithm = 'ES256' } = given;
    return clientCredentials({ ...client, authentication: privateKeyJwt({ privateKey, algorithm }) });
  }
  return oauth({
    client: { name: 'fullmcp-conformance' },
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    // The user's browser: the suite's authorization server sends it back at once.
    open: (url) => fetch(url).then((page) => page.text()),
    ...(given.client_id && { registered: client }),
  });
}

/** @param {{ [key: string]: unknown }} schema */
function asksToConfirm({ properties }) {
  return typeof properties === 'object' && properties !== null && 'confirmed' in properties;
}
