import net, { type LookupFunction, type Socket } from 'node:net';
import tls from 'node:tls';
import { SafeFetchError } from '../../../oauth/fetch/safe-fetch.js';
import { isSameAddress } from '../../../protocol/checks/ip-addresses.js';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import type { ResolvedAddress } from './resolve.js';

// Opens a connection to addresses that were checked.

/** The addresses and the port of a connection; the host is only for messages. */
interface DialTarget {
  readonly url: URL;
  readonly addresses: readonly ResolvedAddress[];
  readonly port: number;
}

/** Opens a TCP connection to one of the addresses. The socket may still be connecting. */
export type Dial = (target: DialTarget) => Socket;

/** Dials the addresses that were checked: Node gets them as the result of its own lookup, so there is no second one. */
export const dialChecked: Dial = function dialChecked({ url, addresses, port }) {
  const lookup: LookupFunction = (_hostname, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
  // For one address, Node does not call `lookup`. It goes by the same way as several.
  const host = addresses.length === 1 ? (addresses[0]?.address ?? '') : url.hostname;
  const socket = net.connect({ host, port, lookup, autoSelectFamily: true });
  // Checked again on the connection itself, in case a runtime has looked up the name after all.
  socket.once('connect', () => {
    const { remoteAddress } = socket;
    if (remoteAddress !== undefined && addresses.some(({ address }) => isSameAddress(address, remoteAddress)))
      return;
    socket.destroy(
      new SafeFetchError(
        'private_address',
        `The connection for ${displayUrl(url)} went to an address that was not checked.`,
      ),
    );
  });
  return socket;
};

/** TLS for the host's name on a connection, whatever the environment says about certificates. */
export function secure(socket: Socket, url: URL, ca: string | undefined): Socket {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return tls.connect({
    socket,
    host,
    servername: net.isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca: [...tls.rootCertificates, ca] }),
  });
}
