// HTTP: whether an MCP server answers at the URL, and which transport and revisions it speaks.

import type { Era } from '../../../../connect/targets/known-servers.js';
import { type Examination, isEventStream, mediaTypeOf, send } from './exchange.js';
import { failed, ok, reasonOf, type StepFinding } from './finding.js';
import { type AnsweredProbe, askForSession, askModern } from './messages.js';
import { examineRedirect, isRedirect } from './redirect.js';

/** The endpoint as it answered. */
export interface Endpoint extends AnsweredProbe {
  /** Undefined if the era cannot be known, such as without a token. */
  readonly era: Era | undefined;
}

export interface EndpointExamined {
  readonly finding: StepFinding;
  /** Undefined if there is nothing that could be examined further. */
  readonly endpoint?: Endpoint;
}

/** Asks the endpoint as clients do: with the newest revision first. */
export async function examineEndpoint(at: Examination): Promise<EndpointExamined> {
  try {
    const asked = await askModern(at, 'server/discover', {});
    const { reply } = asked;
    const { status } = reply;
    const facts = `${status} after ${reply.headersMs.toFixed(0)} ms`;
    if (isRedirect(status)) return { finding: examineRedirect(at, reply) };
    if (status === 401)
      return {
        finding: ok('http', `${facts}: ${isTokenSent(at) ? 'it refuses the token' : 'it asks for a token'}.`),
        endpoint: { ...asked, era: undefined },
      };
    if (status === 403)
      return {
        finding: ok('http', `${facts}: it refuses the request.`),
        endpoint: { ...asked, era: undefined },
      };
    if (status === 429 || status >= 500) return { finding: unavailable(facts, status) };
    const endpoint = isModern(asked) ? { ...asked, era: 'modern' as const } : await older(at);
    if (endpoint) return { finding: ok('http', answeredFacts(endpoint)), endpoint };
    return {
      finding: failed('http', `${facts}: nothing at ${at.url.pathname} speaks MCP.`, await betterPath(at)),
    };
  } catch (error) {
    at.signal.throwIfAborted();
    return { finding: noReply(error) };
  }
}

function isTokenSent({ headers }: Examination): boolean {
  return Object.hasOwn(headers, 'authorization');
}

function answeredFacts({ reply }: Endpoint): string {
  const content = mediaTypeOf(reply.header('content-type')) || 'without a content type';
  return `${reply.status} after ${reply.headersMs.toFixed(0)} ms, ${content}.`;
}

/** Whether the reply is that of a server of the newest revision, even one that refuses the request. */
function isModern({ answer }: AnsweredProbe): boolean {
  if (answer.kind === 'result') return Array.isArray(answer.result['supportedVersions']);
  return answer.kind === 'error' && answer.error.code === 'header_mismatch';
}

async function older(at: Examination): Promise<Endpoint | undefined> {
  const asked = await askForSession(at);
  if (asked.answer.kind === 'result') return { ...asked, era: 'session' };
  const reply = await send(at, {
    method: 'GET',
    headers: { ...at.headers, accept: 'text/event-stream' },
    isEnough: () => true,
  });
  // The first event of HTTP+SSE is the address for messages.
  const isAddress = /^(?:\/|https?:)/.test(reply.events[0] ?? '');
  if (!isEventStream(reply.header('content-type')) || !isAddress) return undefined;
  return { reply, answer: { kind: 'none' }, era: 'http+sse' };
}

/** Most servers are at `/mcp`. The headers of the user are not sent there. */
async function betterPath(at: Examination): Promise<string> {
  const { origin, pathname } = at.url;
  const paths = [...new Set(['/mcp', `${pathname.replace(/\/+$/, '')}/mcp`])].filter(
    (path) => path !== pathname,
  );
  for (const path of paths) {
    const there = { ...at, url: new URL(path, origin) };
    const { reply, answer } = await askModern(there, 'server/discover', {}, { isAnonymous: true }).catch(
      () => ({ reply: undefined, answer: { kind: 'none' as const } }),
    );
    if (answer.kind !== 'none') return `Use ${there.url.href}: an MCP server answers there.`;
    if (reply?.status === 401) return `Try ${there.url.href}: something there asks for a token.`;
  }
  return 'Check the path of the URL: most servers are at /mcp. Check also the routes of proxies in front of the server.';
}

function unavailable(facts: string, status: number): StepFinding {
  if (status === 429)
    return failed('http', `${facts}: it limits the rate of requests.`, 'Wait, and try again.');
  return status === 502 || status === 503 || status === 504
    ? failed(
        'http',
        `${facts}: a proxy does not reach the server behind it, or the server is not ready.`,
        'Check that the server runs, and the address that the proxy sends requests to.',
      )
    : failed('http', `${facts}: the server fails.`, 'Read the log of the server.');
}

function noReply(error: unknown): StepFinding {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'HPE_HEADER_OVERFLOW')
    return failed(
      'http',
      'The headers of its reply are larger than 64 KB.',
      'Find what adds them: often a proxy with many cookies.',
    );
  if (code.startsWith('HPE_'))
    return failed(
      'http',
      `The reply is not HTTP (${code}).`,
      'Check the port: something that does not speak HTTP/1.1 may listen there.',
    );
  return failed(
    'http',
    `There is no HTTP reply: ${reasonOf(error)}.`,
    'Read the log of the server, and of proxies in front of it. With https, check that the URL has the right port.',
  );
}
