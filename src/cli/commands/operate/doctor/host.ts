// The needs of one host besides the protocol: its address, its sessions, its authorization, its tools.

import { randomUUID } from 'node:crypto';
import { lazySafeFetch } from '../../../../adapters/node/fetch/lazy-safe-fetch.js';
import type { Client } from '../../../../client/model/client.js';
import {
  type AuthorizationServer,
  discoverAuthorizationServer,
} from '../../../../oauth/documents/authorization-server.js';
import {
  discoverProtectedResource,
  type ProtectedResource,
} from '../../../../oauth/documents/protected-resource.js';
import { kindOfAddress } from '../../../../oauth/fetch/addresses.js';
import { isLoopbackUrl } from '../../../../oauth/fetch/check-url.js';
import { isPrivateName } from '../../../../oauth/fetch/names.js';
import { parseChallenges } from '../../../../protocol/encoding/challenges.js';
import { shorten } from '../../../../protocol/encoding/shorten.js';
import { newestSession } from '../../../../protocol/tables/features.js';
import { type HostBehaviour, type HostFact, hostOf, shownSource } from '../../../../protocol/tables/hosts.js';
import { type ConnectionRow, type HostName, PROFILES } from '../../../../tooling/lint/host-profiles.js';
import { lintManifest } from '../../../../tooling/lint/lint-manifest.js';
import { manifestOf } from '../../../../tooling/manifest/manifest.js';
import type { Endpoint } from './endpoint.js';
import { type Examination, send } from './exchange.js';
import { failed, ok, reasonOf, type StepFinding, skipped, warning } from './finding.js';

/** A problem of a server for one host, and what to do. */
interface Problem {
  readonly says: string;
  readonly fix: string;
}

interface Hosted {
  readonly at: Examination;
  readonly endpoint: Endpoint;
  /** The documents of the authorization of the server, if it asks for a token. */
  readonly documents: Documents | undefined;
}

interface Documents {
  readonly resource?: ProtectedResource;
  readonly issuer?: AuthorizationServer;
  /** The longest time that one of them took. */
  readonly slowestMs: number;
  readonly problem?: string;
}

type Check = (hosted: Hosted, row: ConnectionRow) => Problem | undefined | Promise<Problem | undefined>;

/** Examines what the hosts need of a server at a URL. */
export async function* examineForHosts(
  at: Examination,
  endpoint: Endpoint,
  hosts: readonly HostName[],
): AsyncGenerator<StepFinding> {
  if (hosts.length === 0) return;
  const documents = endpoint.reply.status === 401 ? await readDocuments(at, endpoint) : undefined;
  for (const host of hosts)
    for (const row of PROFILES[host].connection)
      yield await examineRow(host, row, { at, endpoint, documents });
}

async function examineRow(host: HostName, row: ConnectionRow, hosted: Hosted): Promise<StepFinding> {
  const step = `${host}: ${row.check}`;
  const source = `(${shownSource(row.source)})`;
  if (NEEDS_DOCUMENTS.has(row.check) && hosted.documents === undefined)
    return ok(step, 'It does not ask for a token.');
  try {
    const problem = await checks[row.check](hosted, row);
    if (problem === undefined) return ok(step, `It is as ${PROFILES[host].title} wants it.`);
    const judge = row.severity === 'error' ? failed : warning;
    return judge(step, `${problem.says}.`, `${problem.fix} ${source}`);
  } catch (error) {
    hosted.at.signal.throwIfAborted();
    return skipped(step, `It could not be examined: ${reasonOf(error)}.`);
  }
}

const NEEDS_DOCUMENTS: ReadonlySet<string> = new Set(['login', 'registration', 'refresh', 'login time']);

const checks: Readonly<Record<ConnectionRow['check'], Check>> = {
  address: ({ at: { url } }, { ports }) => addressProblem(url, ports),
  get: async ({ at }) => {
    const reply = await send(at, {
      method: 'GET',
      headers: { ...at.headers, accept: 'text/event-stream' },
      headersOnly: true,
    });
    return reply.status === 405 && reply.header('allow') === undefined
      ? {
          says: 'GET is answered with 405 and no Allow header',
          fix: 'Send Allow: POST, or the methods that it has.',
        }
      : undefined;
  },
  sessions: ({ at, endpoint }) => sessionProblem(at, endpoint),
  login: ({ at, endpoint, documents }) => loginProblem(at, endpoint, documents as Documents),
  registration: ({ documents }) => registrationProblem(documents?.issuer),
  refresh: ({ documents }) => {
    const scopes = documents?.issuer?.scopes_supported;
    return documents?.issuer === undefined || scopes?.includes('offline_access')
      ? undefined
      : {
          says: 'The authorization server does not offer the scope offline_access',
          fix: 'Offer it, and list it in scopes_supported: otherwise users have to log in again whenever a token ends.',
        };
  },
  'login time': ({ documents }, { limit = 0 }) =>
    (documents?.slowestMs ?? 0) > limit
      ? {
          says: `A document of the authorization takes ${((documents?.slowestMs ?? 0) / 1000).toFixed(1)} s, longer than ${limit / 1000} s`,
          fix: 'Serve it from memory.',
        }
      : undefined,
};

function addressProblem(url: URL, ports: readonly string[] | undefined): Problem | undefined {
  if (url.protocol !== 'https:')
    return { says: `The URL begins with ${url.protocol}//`, fix: 'Serve it over https.' };
  if (isLoopbackUrl(url) || isPrivateName(url.hostname) || kindOfAddress(url.hostname) === 'private')
    return {
      says: 'The address is not public',
      fix: 'Give it a public name: the host connects from its own network.',
    };
  const port = url.port === '' ? '443' : url.port;
  return ports === undefined || ports.includes(port)
    ? undefined
    : { says: `It listens on port ${port}`, fix: `Serve it on port ${ports.join(' or ')}.` };
}

// A host that comes back with the id of a session that has ended must be told so, or it repeats its requests forever.
async function sessionProblem(at: Examination, { reply }: Endpoint): Promise<Problem | undefined> {
  if (reply.status === 401 || reply.status === 403) throw new Error('it needs a token');
  const headers = {
    ...at.headers,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': newestSession,
    'mcp-session-id': randomUUID(),
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  const { status } = await send(at, { method: 'POST', headers, body, isEnough: () => true });
  // A server without sessions answers.
  return status === 404 || status < 300
    ? undefined
    : {
        says: `A request with the id of a session that has ended is answered with ${status}`,
        fix: 'Answer with 404: then the host opens a new session.',
      };
}

async function readDocuments(at: Examination, { reply }: Endpoint): Promise<Documents> {
  let slowestMs = 0;
  const timed = async <T>(work: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    try {
      return await work();
    } finally {
      slowestMs = Math.max(slowestMs, performance.now() - start);
    }
  };
  const loopback = isLoopbackUrl(at.url) ? 'allow' : 'refuse';
  const signal = AbortSignal.any([at.signal, AbortSignal.timeout(at.timeoutMs)]);
  const options = { fetch: lazySafeFetch({}), loopback, signal } as const;
  const resourceMetadata = bearerOf(reply.header('www-authenticate'))?.parameters.get('resource_metadata');
  try {
    const resource = await timed(() =>
      discoverProtectedResource(at.url.href, { ...options, resourceMetadata }),
    );
    const [first] = resource.authorizationServers;
    if (first === undefined) return { resource, slowestMs, problem: 'It names no authorization server' };
    try {
      const issuer = await timed(() => discoverAuthorizationServer(first, options));
      return { resource, issuer, slowestMs };
    } catch (error) {
      return { resource, slowestMs, problem: reasonOf(error) };
    }
  } catch (error) {
    at.signal.throwIfAborted();
    return { slowestMs, problem: reasonOf(error) };
  }
}

function bearerOf(header: string | undefined): ReturnType<typeof parseChallenges>[number] | undefined {
  return parseChallenges(header).find(({ scheme }) => scheme === 'bearer' || scheme === 'dpop');
}

function loginProblem(at: Examination, { reply }: Endpoint, documents: Documents): Problem | undefined {
  const { resource, issuer, problem } = documents;
  if (bearerOf(reply.header('www-authenticate'))?.parameters.has('resource_metadata') !== true)
    return {
      says: 'The 401 has no WWW-Authenticate: Bearer with resource_metadata',
      fix: 'Users of this host log in with OAuth: name the metadata of the server in the challenge.',
    };
  if (resource !== undefined && resource.resource !== at.url.href)
    return {
      says: `The metadata is that of ${shorten(resource.resource, 200)}, not of the URL that users type`,
      fix: 'Make "resource" exactly the URL of the server.',
    };
  if (issuer === undefined)
    return {
      says: problem ?? 'It has no metadata',
      fix: 'The host uses the first authorization server only: it must have metadata.',
    };
  return issuer.code_challenge_methods_supported?.includes('S256')
    ? undefined
    : {
        says: 'The first authorization server does not announce S256',
        fix: 'Add it to code_challenge_methods_supported.',
      };
}

function registrationProblem(issuer: AuthorizationServer | undefined): Problem | undefined {
  if (issuer === undefined || issuer.registration_endpoint !== undefined) return undefined;
  const fix = 'Support client ID metadata documents with the method "none", or dynamic registration.';
  if (issuer.client_id_metadata_document_supported !== true)
    return { says: 'The authorization server registers no clients', fix };
  return issuer.token_endpoint_auth_methods_supported?.includes('none')
    ? undefined
    : { says: 'The authorization server takes metadata documents, but no client without a secret', fix };
}

/** Examines the definitions of a server with the rules of the hosts, and says how the hosts treat its calls. */
export async function examineToolsForHosts(
  client: Client,
  hosts: readonly HostName[],
): Promise<readonly StepFinding[]> {
  if (hosts.length === 0) return [];
  const manifest = await manifestOf(client, { onRefused: () => undefined });
  return hosts.flatMap((host) => [examineDefinitions(host), ...behaviourOf(host)]);

  function examineDefinitions(host: HostName): StepFinding {
    const { findings } = lintManifest(manifest, { ignore: new Set(), maxTokens: undefined, hosts: [host] });
    const own = findings.filter(({ source }) => source !== undefined);
    const count = (severity: string): number => own.filter((one) => one.severity === severity).length;
    const [errors, warnings] = [count('error'), count('warning')];
    const step = `${host}: tools`;
    if (errors + warnings === 0) return ok(step, `${PROFILES[host].title} accepts their definitions.`);
    const rules = [...new Set(own.filter(({ severity }) => severity !== 'advice').map(({ rule }) => rule))];
    const says = `${errors} errors and ${warnings} warnings in their definitions: ${rules.join(', ')}.`;
    return (errors > 0 ? failed : warning)(
      step,
      says,
      `See each of them with: fullmcp lint <target> --for ${host}`,
    );
  }
}

/** The programs of a host, and how they treat calls whatever they declare: the facts by which the option `fallbacks` decides. */
function behaviourOf(host: HostName): readonly StepFinding[] {
  return PROFILES[host].clients.map((name) => ok(`${host}: calls`, `${sentence(hostOf({ name }))}.`));
}

const shownQuestions = {
  never: 'shows no questions',
  'as declared': 'shows questions if it declares them',
  'in sessions': 'shows questions if it declares them, but not in 2026-07-28',
} as const;

function sentence({ title, asks, tasks, callMs, lists }: HostBehaviour): string {
  const dated = (text: string, { source }: HostFact<unknown>): string => `${text} (${shownSource(source)})`;
  return [
    dated(`${title} gives up a call after ${callMs.is / 1000} s`, callMs),
    dated(tasks.is === 'never' ? 'has no tasks' : 'has tasks if it declares them', tasks),
    dated(shownQuestions[asks.is], asks),
    dated(lists.is === 'kept' ? 'keeps an old list of tools' : 'follows changes of the list', lists),
  ].join(', ');
}
