// One call of an operation: the request with its credentials, and the reply.

import { type SafeFetch, SafeFetchError } from '../oauth/fetch/safe-fetch.js';
import type { Context } from '../server/context/context.js';
import { ToolError } from '../server/results/tool-error.js';
import { nameOf, type ReadOperation } from './document/operations.js';
import type { Settings } from './options.js';
import { buildRequest, type DraftRequest, type RequestPlan, urlOf } from './request/build-request.js';
import { checkHeader } from './request/styles.js';
import { describeFailure, describeReply } from './response/failure.js';
import { type Reply, readReply } from './response/read-reply.js';
import type { Security } from './security/credentials.js';

/** The parts that all operations of a document share. */
export interface Api {
  readonly security: Security;
  readonly settings: Settings;
  readonly fetch: SafeFetch;
}

/** An operation that can be called. */
export interface Callable {
  readonly operation: ReadOperation;
  readonly request: RequestPlan;
}

/** A reply with a status that is not a success. */
export class ReplyError extends ToolError {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Calls an operation. Throws a `ToolError` if it fails, which says why. The request ends when the call is cancelled. */
export async function callOperation(
  { operation, request: plan }: Callable,
  input: Readonly<Record<string, unknown>>,
  { ctx, api }: { readonly ctx: Context; readonly api: Api },
): Promise<Reply> {
  const where = nameOf(operation.method, operation.path);
  const request = buildRequest(plan, input);
  await addHeaders(request, operation, { ctx, api });
  const secrets = await api.security.authorize(operation, request, ctx);
  const response = await send(plan, request, { ctx, api, where });
  const { status, headers } = response;
  // A 304 answers a condition in the arguments, such as If-None-Match.
  if (response.ok || status === 304) return readReply(response, operation.method, where);
  throw new ReplyError(
    status,
    describeReply(where, { status, headers, text: await response.text() }, secrets),
  );
}

interface Calling {
  readonly ctx: Context;
  readonly api: Api;
}

async function addHeaders(
  request: DraftRequest,
  operation: ReadOperation,
  { ctx, api }: Calling,
): Promise<void> {
  const { headers } = api.settings;
  const values = typeof headers === 'function' ? await headers(ctx, operation) : (headers ?? {});
  for (const [name, value] of Object.entries(values))
    if (value !== undefined) request.headers.set(name.toLowerCase(), checkHeader(name, value));
}

async function send(
  plan: RequestPlan,
  request: DraftRequest,
  { ctx, api, where }: Calling & { readonly where: string },
): Promise<Response> {
  const { timeoutMs, maxBytes } = api.settings;
  const { headers, cookies, body } = request;
  if (body !== undefined) headers.set('content-type', body.contentType);
  try {
    return await api.fetch(urlOf(plan, request), {
      method: plan.verb,
      headers: Object.fromEntries(headers),
      ...(cookies.length > 0 && { cookie: cookies.join('; ') }),
      ...(body !== undefined && { body: body.body }),
      ...{ signal: ctx.signal, timeoutMs, maxBytes },
    });
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error;
    throw new ToolError(describeFailure(where, error.code, { timeoutMs, maxBytes }), { cause: error });
  }
}
