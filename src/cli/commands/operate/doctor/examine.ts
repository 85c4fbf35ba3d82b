// The examination of a server, step by step. Each step is bounded in time, and the first one that leaves nothing to examine ends it.

import process from 'node:process';
import { type HttpProxy, proxyFor } from '../../../../adapters/node/client/proxy.js';
import { readPem } from '../../../../adapters/node/files/pem.js';
import { resolveTarget } from '../../../../connect/targets/target.js';
import type { HostName } from '../../../../tooling/lint/host-profiles.js';
import { userHeaders } from '../../../../transports/http/client/request-headers.js';
import { serverOf, withoutCredentials } from '../../../../transports/http/client/target.js';
import type { Typed } from '../../../command/definition.js';
import { duration } from '../../../command/parse.js';
import { connectOptions } from '../../../target/open.js';
import type { TypedTarget } from '../../../target/read-target.js';
import { examineAuthorization } from './authorization.js';
import { examineTls } from './certificate.js';
import { examineCors } from './cors.js';
import { examineEndpoint } from './endpoint.js';
import { examineEra } from './era.js';
import type { Examination } from './exchange.js';
import { failed, reasonOf, type StepFinding, skipped } from './finding.js';
import { examineHeaders } from './headers.js';
import { examineForHosts } from './host.js';
import { examineHost } from './host-check.js';
import { endSession } from './messages.js';
import { examineName, examinePort } from './network.js';
import { examineProtocol } from './protocol.js';
import { examineStream } from './stream.js';

const DEFAULT_STEP_MS = 5000;

/** Yields the finding of each step as soon as it is known. */
export async function* examine(input: Typed, typed: TypedTarget): AsyncGenerator<StepFinding> {
  const timeoutMs = duration(input, 'timeout') ?? DEFAULT_STEP_MS;
  const target = resolveTarget(typed.target);
  const hosts = input.texts('for') as readonly HostName[];
  if (target.kind !== 'http' && target.kind !== 'websocket')
    return yield* examineProtocol(input, { isStarted: target.kind === 'process', timeoutMs, hosts });
  const at = await examinationOf(input, typed, { ...target, timeoutMs });
  const proxy = proxyFor(target.url, undefined, process.env);
  if (proxy) yield throughProxy(proxy);
  const reached = proxy ? { ...at, url: proxy.url } : at;
  for (const step of [examineName, examinePort, ...(proxy ? [] : [examineTls])]) {
    const finding = await step(reached);
    yield finding;
    if (finding.status === 'failed') return;
  }
  if (target.kind === 'http' && !proxy) {
    const isUsable = yield* examineHttp(at, { origin: input.text('origin'), hosts });
    if (!isUsable) return;
  }
  yield* examineProtocol(input, { isStarted: false, timeoutMs, hosts });
}

/** The steps of HTTP. Returns whether a client could connect now. */
async function* examineHttp(
  at: Examination,
  { origin, hosts }: { readonly origin: string | undefined; readonly hosts: readonly HostName[] },
): AsyncGenerator<StepFinding, boolean> {
  const { finding, endpoint } = await examineEndpoint(at);
  yield finding;
  if (endpoint === undefined) return false;
  try {
    const { reply } = endpoint;
    const pages = { origin, isProtected: reply.status === 401 };
    for (const [step, run] of Object.entries<(at: Examination) => Promise<StepFinding>>({
      host: () => examineHost(at, endpoint),
      headers: () => examineHeaders(at, endpoint),
      revisions: () => examineEra(at, endpoint),
      stream: () => examineStream(at, endpoint),
      cors: () => examineCors(at, endpoint, pages),
    }))
      yield await run(at).catch((error: unknown) => unanswered(at, step, error));
    yield* await examineAuthorization(at, reply);
    yield* examineForHosts(at, endpoint, hosts);
    return reply.status !== 401 && reply.status !== 403;
  } finally {
    await endSession(at, endpoint.reply);
  }
}

/** The server answered before, and does not answer the request of this step. */
function unanswered(at: Examination, step: string, error: unknown): StepFinding {
  at.signal.throwIfAborted();
  return failed(
    step,
    `The request of this step gets no reply: ${reasonOf(error)}.`,
    'Read the log of the server, and of proxies in front of it.',
  );
}

function throughProxy({ url, from }: HttpProxy): StepFinding {
  return skipped(
    'proxy',
    `Requests go through ${url.origin}, by ${from}: its address is examined, and the server only as far as a client gets.`,
  );
}

interface HttpTargetParts {
  readonly url: URL;
  readonly headers?: unknown;
  readonly timeoutMs: number;
}

async function examinationOf(
  input: Typed,
  typed: TypedTarget,
  { url, headers: own, timeoutMs }: HttpTargetParts,
): Promise<Examination> {
  const options = connectOptions(input, typed);
  const { auth, ca, cert, key } = options;
  const headers = { ...(options.headers as object), ...(own as object | undefined) } as Record<
    string,
    string
  >;
  const user = await userHeaders(url, { ...options, headers })();
  const login =
    typeof auth === 'object'
      ? await auth.headersFor({
          server: serverOf(withoutCredentials(url)),
          method: 'POST',
          url: url.href,
          signal: input.signal,
          mayAsk: false,
          pauseTimeouts: (work) => work(),
        })
      : {};
  const pem = Object.entries({ ca, cert, key }).filter(([, value]) => value !== undefined);
  return {
    url: withoutCredentials(url),
    headers: { ...user, ...login },
    tls: Object.fromEntries(pem.map(([option, value]) => [option, readPem(option, value)])),
    timeoutMs,
    signal: input.signal,
  };
}
