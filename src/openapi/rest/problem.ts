// Failures as problem details. RFC 9457.

import { isObject } from '../../jsonrpc/message.js';
import { type McpError, toMcpError, UNKNOWN_OUTCOME } from '../../protocol/errors.js';
import { INVALID_ARGUMENTS } from '../../protocol/tables/failure-texts.js';
import { IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';
import {
  BodyStalled,
  BodyTooLarge,
  type HeaderFields,
  type Incoming,
} from '../../transports/http/server/incoming.js';
import { challengeHeaders, type Refusals } from '../../transports/http/server/refusal.js';

/** A failure of a request. */
export interface Problem {
  readonly status: number;
  /** The stable name of the failure. */
  readonly code: string;
  readonly detail: string;
  readonly data?: unknown;
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** Replies come from tools, so that a browser must not run anything that is in them, and nobody may keep them. */
export const safeHeaders: HeaderFields = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
};

/** Replies with a problem. */
export function replyProblem(
  incoming: Incoming,
  { status, code, detail, data }: Problem,
  headers: HeaderFields,
): void {
  const title = titles[status] ?? 'Error';
  const body = { type: 'about:blank', title, status, detail, code, ...(data !== undefined && { data }) };
  incoming.reply(
    status,
    { ...safeHeaders, ...headers, 'content-type': 'application/problem+json' },
    incoming.method === 'HEAD' ? undefined : JSON.stringify(body),
  );
}

/** Replies with an error of the protocol, and the challenge that it may have. */
export function replyError(incoming: Incoming, error: McpError, headers: HeaderFields): void {
  const problem = problemOf(error);
  const challenge = problem.status === error.status ? challengeHeaders(incoming, error) : {};
  replyProblem(incoming, problem, { ...headers, ...challenge });
}

/** The problem of an error. Some errors have the status 200 in the protocol, where the reply to a request is not the one to a call. */
function problemOf(error: McpError): Problem {
  const { code, message, data, status } = error;
  const detail = message.replace(`params._meta["${IDEMPOTENCY_KEY}"]`, 'The header Idempotency-Key');
  if (code === 'missing_capability')
    return {
      ...{ status: 409, code: 'needs_mcp_client' },
      detail: `The call needs an MCP client: the tool asks a question, or runs as a task. ${message}`,
    };
  if (code === 'invalid_params' && isUnknownName(data)) return { status: 404, code: 'not_found', detail };
  if (code === 'invalid_params' && message.startsWith(INVALID_ARGUMENTS))
    return { status: 422, code: 'invalid_arguments', detail };
  const more = data === undefined ? {} : { data };
  if (isObject(data) && data['reason'] === UNKNOWN_OUTCOME)
    return { status: 409, code: UNKNOWN_OUTCOME, detail };
  if (status >= 400) return { status, code, detail, ...more };
  return { status: statuses[code] ?? 500, code, detail, ...more };
}

/** An error about a tool or a prompt, and not about one of its arguments. */
function isUnknownName(data: unknown): boolean {
  if (!isObject(data) || data['field'] !== undefined) return false;
  return data['kind'] === 'tool' || data['kind'] === 'prompt';
}

const statuses: Readonly<Record<string, number>> = {
  invalid_params: 400,
  resource_not_found: 404,
  timeout: 504,
  cancelled: 503,
  connection_closed: 503,
};

/** Refuses requests with problems. */
export const problemRefusals: Refusals = {
  refuse: (incoming, status, detail, headers) =>
    replyProblem(incoming, { status, code: refusalCodes[status] ?? 'refused', detail }, headers),
  fail(incoming, error, headers) {
    if (error instanceof BodyTooLarge)
      replyProblem(incoming, { status: 413, code: 'too_large', detail: `${error.message}.` }, headers);
    else if (error instanceof BodyStalled)
      replyProblem(
        incoming,
        { status: 408, code: 'stalled', detail: `${error.message}.` },
        { ...headers, connection: 'close' },
      );
    else replyError(incoming, toMcpError(error), headers);
  },
};

const refusalCodes: Readonly<Record<number, string>> = {
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  503: 'overloaded',
};
