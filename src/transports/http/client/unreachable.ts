import { McpError } from '../../../protocol/errors.js';

/** Causes that prove that the server has seen nothing, so that the request may be sent again. */
const unsent = ['ECONNREFUSED', 'ConnectionRefused', 'ENOTFOUND', 'EAI_AGAIN'];

/** Why `fetch` failed, for a person. Its own message is left out: some runtimes put the whole address into it. */
export function unreachable(error: unknown, displayUrl: string): McpError {
  const code = codeOf(error);
  const late = code !== undefined && /TIMEOUT|TIMEDOUT/.test(code);
  return new McpError(
    code === 'UND_ERR_HEADERS_TIMEOUT' ? 'timeout' : 'connect_failed',
    `Cannot reach ${displayUrl}${code ? ` (${code})` : ''}: ${late ? 'it did not answer in time.' : reason(code, error)}`,
    { cause: error, data: { code, ...(wasUnsent(error, code) && { unsent: true }) } },
  );
}

/** Node's own HTTP knows whether it was ever connected. */
function wasUnsent(error: unknown, code: string | undefined): boolean {
  return (error as { unsent?: unknown }).unsent === true || (code !== undefined && unsent.includes(code));
}

/** The stream broke off, or ended, before the answer. */
export function incomplete(displayUrl: string, cause?: unknown): McpError {
  return new McpError('connection_closed', `The answer of ${displayUrl} ended before it was complete.`, {
    cause,
    data: { incomplete: true },
  });
}

function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    const { code } = at as { readonly code?: unknown };
    // A DOMException has a number there.
    if (typeof code === 'string') return code;
  }
  return undefined;
}

function reason(code: string | undefined, error: unknown): string {
  switch (code) {
    case undefined:
      return error instanceof Error && error.cause instanceof Error && error.cause.message === 'bad port'
        ? 'browsers and fetch block this port. Let the server listen on another one.'
        : 'no reason is known. In a browser, the server may not allow this page (CORS).';
    case 'ECONNREFUSED':
    case 'ConnectionRefused':
      return 'nothing listens there. Is the server running?';
    case 'ENOTFOUND':
      return 'there is no host of that name.';
    case 'EAI_AGAIN':
      return 'its name could not be looked up. Is there a network?';
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
    case 'EPROTO':
      return 'it does not speak TLS there. Is it http:// instead of https://?';
    case 'CERT_HAS_EXPIRED':
      return 'its certificate has expired.';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return 'its certificate is for another host name.';
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return "its certificate is not signed by an authority that is trusted here. If you trust it, pass the authority's certificate as the option `ca` (on Node).";
    default:
      return /CERT|SIGNATURE/.test(code)
        ? 'its certificate is not trusted.'
        : 'the connection broke before an answer came.';
  }
}
