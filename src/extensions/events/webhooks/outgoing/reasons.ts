// The reasons for which a request to a webhook failed, as clients and operators are told them.

import { SafeFetchError } from '../../../../oauth/fetch/safe-fetch.js';
import type { CallbackReason } from '../../../../protocol/events/wire.js';

const TLS_CODE =
  /^(ERR_TLS|ERR_SSL|CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;

/**
 * The reason of a request that got no reply. A name that leads to a private address looks like one that does not exist, so that nobody
 * can explore the network of the server.
 */
export function reasonOf(error: unknown): CallbackReason {
  if (!(error instanceof SafeFetchError)) return 'connection_refused';
  const { code, cause } = error;
  if (code === 'timeout') return 'timeout';
  const system = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return code === 'connect_failed' && TLS_CODE.test(system) ? 'tls_error' : 'connection_refused';
}

/** The reason of a reply that is not a success. A redirect is not followed, and is the mistake of the address. */
export function reasonOfStatus(status: number): CallbackReason {
  return status >= 500 ? 'http_5xx' : 'http_4xx';
}
