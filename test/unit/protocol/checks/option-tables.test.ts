import { readdirSync, readFileSync } from 'node:fs';
import {
  createServer,
  defineWith,
  findService,
  inProcess,
  listServices,
  memoryStore,
  registerService,
  stored,
  tool,
} from 'fullmcp';
import { sandboxPage, showApp, withApp } from 'fullmcp/apps';
import { apiKey, bearer, introspection, jwt, mintToken, sharedSecretJwt, trustedProxy } from 'fullmcp/auth';
import { addCatalog } from 'fullmcp/catalog';
import { connect } from 'fullmcp/client';
import { quickjs } from 'fullmcp/code';
import { evals } from 'fullmcp/evals';
import { eventFrom, receiver } from 'fullmcp/events';
import { createPlugin } from 'fullmcp/fastify';
import { gateway } from 'fullmcp/gateway';
import { createHandler, memoryEventLog } from 'fullmcp/http';
import { inspector } from 'fullmcp/inspector';
import { lmdbStore } from 'fullmcp/lmdb';
import {
  audit,
  auditChain,
  cache,
  circuitBreaker,
  concurrency,
  errors,
  knownTags,
  logging,
  outputBudget,
  policy,
  rateLimit,
  resilience,
  retry,
  sizeLimit,
  verifyAudit,
} from 'fullmcp/middleware';

import { nats, natsDiscovery, serveNats } from 'fullmcp/nats';
import { auditFile, createNodeHandler, serve, verifyAuditFile } from 'fullmcp/node';
import {
  clientCredentials,
  enterprise,
  exchangeToken,
  fileTokenStore,
  oauth,
  privateKeyJwt,
  workloadIdentity,
} from 'fullmcp/oauth';
import {
  auth0,
  discord,
  github,
  google,
  keycloak,
  oauthProxy,
  openId,
  userTokens,
} from 'fullmcp/oauth-proxy';
import { fromOpenAPI, fromRoutes } from 'fullmcp/openapi';
import { telemetry } from 'fullmcp/otel';
import { postgres } from 'fullmcp/postgres';
import { proxy } from 'fullmcp/proxy';
import { redis } from 'fullmcp/redis';
import { rest, toOpenAPI } from 'fullmcp/rest';
import { saveSkill, skills, skillsFrom } from 'fullmcp/skills';
import { serveStdio } from 'fullmcp/stdio';
import {
  busContract,
  eventLogContract,
  fenceContract,
  mockModel,
  mockServer,
  recorder,
  startFaults,
  storeContract,
  testClient,
  tokenStoreContract,
  webhookReceiver,
} from 'fullmcp/testing';
import { toolSearch } from 'fullmcp/tools';
import { transform, versions } from 'fullmcp/transform';
import { serveWebSocket } from 'fullmcp/websocket';
import { describe, expect, test } from 'vitest';
import { moduleFolder } from '../../../../src/adapters/node/catalog/folder.js';
import { openTls } from '../../../../src/adapters/node/server/tls.js';
import { readTrustProxy } from '../../../../src/transports/http/server/trusted-proxies.js';

const server = createServer({ name: 'small', version: '1' });

type Make = (options: never) => unknown;

/** Every function that takes options, under the name that its errors have. */
const functions: Readonly<Record<string, Make>> = {
  addCatalog: (options) => addCatalog(server, options),
  apiKey,
  audit,
  auditChain,
  auditFile,
  auth0,
  bearer: (options) => bearer(() => undefined, options),
  busContract,
  cache,
  circuitBreaker,
  clientCredentials,
  'client.code': async (options: object) => (await connect(server)).code({ engine: quickjs(), ...options }),
  'client.on': async (options) =>
    (await connect(server)).on('news' as never, {} as never, () => undefined, options),
  compatibility: (options) => createServer({ name: 'a', version: '1', compatibility: options }),
  concurrency,
  createHandler: (options) => createHandler(server, options),
  createNodeHandler: (options) => createNodeHandler(server, options),
  createPlugin: (options) => createPlugin(server, options),
  defineWith: (options) => defineWith(options),
  discord,
  enterprise,
  errors,
  evals: (options) => evals(server, [{ ask: 'Who?' }], options),
  eventFrom: (options) => eventFrom(server as never, options),
  eventLogContract,
  exchangeToken,
  fenceContract,
  fileTokenStore,
  findService: (options) => findService('a', options),
  folder: (options) => moduleFolder('.', options),
  fromOpenAPI: (options) => fromOpenAPI({ openapi: '3.1.0', paths: {} }, options),
  fromRoutes: (options) => fromRoutes({}, options),
  gateway: (options) => gateway('mcp.json', options),
  github,
  google,
  inProcess: (options) => inProcess(server, options),
  inspector: (options) => inspector(server, options),
  introspection,
  jwt,
  keycloak,
  knownTags,
  listServices,
  lmdbStore: (options) => lmdbStore('/nowhere', options),
  logging,
  memoryEventLog,
  memoryStore,
  mintToken: (options) => mintToken({ sub: 'ann' }, options),
  model: (options) => evals(server, [{ ask: 'Who?' }], { models: [options] }),
  mockModel: (options) => mockModel([], options),
  mockServer,
  nats,
  natsDiscovery,
  oauth,
  oauthProxy,
  openId,
  outputBudget,
  policy,
  postgres,
  privateKeyJwt,
  proxy: (options) => proxy(server, options),
  quickjs,
  rateLimit,
  recorder,
  redis,
  registerService: (options) => registerService(server, options),
  resilience: (options) => resilience({ execute: (work) => work() }, options),
  rest: (options) => rest(server, options),
  run: (options) => evals(server, [{ ask: 'Who?' }]).run(options),
  receiver: (options) => receiver({ onEvent: () => undefined, ...(options as object) }),
  'receiver.subscribe': (options) =>
    receiver({ onEvent: () => undefined }).subscribe({} as never, 'news', {}, options as never),
  retry,
  sandboxPage,
  saveSkill: (options) => saveSkill({} as never, '.', options),
  serve: (options) => serve(server, options),
  'serve: tls': (options) => openTls(options),
  serveNats: (options) => serveNats(server, options),
  serveStdio: (options) => serveStdio(server, options),
  serveWebSocket: (options) => serveWebSocket(server, {} as never, options),
  sharedSecretJwt,
  showApp: (options) => showApp({} as never, options),
  sizeLimit,
  skills: (options) => skills('.', options),
  skillsFrom: (options) => skillsFrom({}, options),
  storeContract,
  stored,
  telemetry,
  testClient: (options) => testClient(server, options),
  'The plan of faults': (options) => startFaults(options),
  tokenStoreContract,
  toOpenAPI: (options) => toOpenAPI(server, options),
  toolSearch: (options) => toolSearch({} as never, options),
  transform: (options) => transform(server, options),
  trustedProxy,
  trustProxy: (options) => readTrustProxy(options),
  userTokens,
  verifyAudit: (options) => verifyAudit([], options),
  verifyAuditFile: (options) => verifyAuditFile('/nowhere', options),
  versions: (options) => versions({ '1': tool({ run: () => '' }) }, options),
  withApp: (options) => withApp(tool({ run: () => '' }), { uri: 'ui://a' } as never, options),
  webhookReceiver,
  workloadIdentity,
};

/** The mistakes that a function reports in these options and in one that no function has. */
async function mistakesOf(name: string, options: object): Promise<readonly string[]> {
  const error: unknown = await Promise.resolve()
    .then(() => functions[name]?.({ ...options, '~~': 1 } as never))
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  expect(error, name).toBeInstanceOf(TypeError);
  return (error as TypeError).message.split('\n');
}

function wordsFor(option: string, mistakes: readonly string[]): string | undefined {
  const found = mistakes.find((mistake) => mistake.includes(`"${option}" must be `));
  return found?.replace(/^.* must be (.*), not .*\.$/, '$1');
}

describe.each(Object.keys(functions))('the options of %s', (name) => {
  test('are all known, and an unknown one is a TypeError with the function and the known names', async () => {
    const [unknown] = await mistakesOf(name, {});
    expect(unknown).toMatch(`${name} has no option "~~". Known: `);
  });

  test('refuse a value of the wrong kind, and a number below its bound, in the same words', async () => {
    const [unknown = ''] = await mistakesOf(name, {});
    const options = unknown.replace(/^.*Known: (.*)\.$/, '$1').split(', ');
    expect(options.length).toBeGreaterThan(0);
    for (const option of options) {
      const mistakes = await mistakesOf(name, { [option]: Symbol('wrong') });
      const words = wordsFor(option, mistakes);
      // Anything is accepted here, and checked further where it is used.
      if (words === undefined) continue;
      expect(mistakes).toContain(`${name}: "${option}" must be ${words}, not a symbol.`);
      if (/integer|number/.test(words))
        expect(await mistakesOf(name, { [option]: -1 })).toContain(
          `${name}: "${option}" must be ${words}, not -1.`,
        );
    }
  });
});

test('Every function that reads options by a table is tested here', () => {
  const presets = ['clerk', 'cognito', 'entra', 'gitlab', 'okta', 'workos'];
  const others = ['connect', 'drain', 'the result of "load"', ...presets];
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const names = files.flatMap((file) =>
    [
      ...readFileSync(`src/${file}`, 'utf8').matchAll(
        /(?:readOptions|checkOptions|checkHandlerOptions|checkPreset)(?:<[^(]*>)?\(\s*'([^']+)'/g,
      ),
    ].map(([, name]) => name),
  );
  expect(names.length).toBeGreaterThan(60);
  expect(
    names.filter((name) => !others.includes(name as string) && !((name as string) in functions)),
  ).toEqual([]);
});
