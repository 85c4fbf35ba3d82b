// TLS: whether clients trust the certificate of a server.

import { isIP } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { hostOf, portOf } from '../../../../adapters/node/client/proxy.js';
import { isLoopbackUrl } from '../../../../oauth/fetch/check-url.js';
import type { Examination } from './exchange.js';
import { failed, ok, reasonOf, type StepFinding, skipped, warning } from './finding.js';
import { opened } from './network.js';

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

/** Examines the certificate. Nothing is sent over the connection, so that no token reaches a server that is not trusted. */
export async function examineTls(at: Examination): Promise<StepFinding> {
  if (!/^(?:https|wss):$/.test(at.url.protocol)) return withoutTls(at.url);
  const host = hostOf(at.url);
  const name = isIP(host) ? {} : { servername: host };
  const socket = connectTls({ host, port: portOf(at.url), ...name, ...at.tls, rejectUnauthorized: false });
  try {
    await opened(socket, 'secureConnect', at);
    return judge(socket, host);
  } catch (error) {
    at.signal.throwIfAborted();
    return failed(
      'tls',
      `There is no TLS connection: ${reasonOf(error)}.`,
      'Check that the port speaks TLS. If the server has none, its URL begins with http://.',
    );
  } finally {
    socket.destroy();
  }
}

function withoutTls(url: URL): StepFinding {
  return isLoopbackUrl(url)
    ? skipped('tls', 'The server is on this computer, without TLS.')
    : warning(
        'tls',
        'The connection is not encrypted: tokens can be read on the way.',
        'Serve it over https.',
      );
}

/** Advice by the codes of OpenSSL. The others are about the chain of authorities. */
const ADVICE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'Renew the certificate, and reload the server or the proxy that has it.',
  CERT_NOT_YET_VALID: 'Check the clock of this computer, and when the certificate was made.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'Use the name that is in the certificate, or get one for the name in the URL.',
};
const CHAIN_ADVICE =
  'Get a certificate of a public authority and send its whole chain (fullchain.pem), or trust its authority with NODE_EXTRA_CA_CERTS.';

function judge(socket: TLSSocket, host: string): StepFinding {
  const { valid_to: end, issuer, subjectaltname: names } = socket.getPeerCertificate();
  if (!socket.authorized) {
    const { code, message } = (socket.authorizationError ?? {}) as NodeJS.ErrnoException;
    const reason = code ?? String(socket.authorizationError);
    const fix = Object.hasOwn(ADVICE, reason) ? (ADVICE[reason] as string) : CHAIN_ADVICE;
    return failed(
      'tls',
      `The certificate is not trusted: ${explain(reason, { end, names, host, message })}.`,
      fix,
    );
  }
  const days = Math.floor((Date.parse(end) - Date.now()) / DAY_MS);
  const by = issuer?.O ?? issuer?.CN ?? 'an unknown authority';
  const facts = `${socket.getProtocol()}, by ${by}, valid for ${days} more days.`;
  return days < SOON_DAYS ? warning('tls', facts, 'Renew the certificate soon.') : ok('tls', facts);
}

interface Facts {
  readonly end: string;
  readonly names: string | undefined;
  readonly host: string;
  readonly message: string | undefined;
}

function explain(reason: string, { end, names = 'no name', host, message }: Facts): string {
  switch (reason) {
    case 'CERT_HAS_EXPIRED':
      return `it ended on ${end}`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `it is for ${names} and not for ${host}`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return 'it is signed by itself';
    default:
      return `${message ?? reason} (${reason})`;
  }
}
