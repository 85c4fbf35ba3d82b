import { tlsFailure } from '../../client/tls-failure.js';

/** That a server cannot be reached or has gone, and what to do, by the code of the runtime's error. */
export function failureFor(code: string, displayUrl: string): string {
  const reason = reasonFor(code);
  return reason === undefined
    ? `The connection to ${displayUrl} broke before an answer came (${code}). Does the server still run? Its log may say why.`
    : `Cannot reach ${displayUrl} (${code}): ${reason}`;
}

function reasonFor(code: string): string | undefined {
  if (/TIMEOUT|TIMEDOUT/.test(code)) return 'it did not answer in time.';
  switch (code) {
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
    default:
      return tlsFailure(code);
  }
}
