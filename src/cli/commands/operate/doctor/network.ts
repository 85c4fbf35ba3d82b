// DNS and TCP: whether the computer of a server can be reached at all.

import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { hostOf, portOf } from '../../../../adapters/node/client/proxy.js';
import { unlessAborted } from '../../../../async/abort.js';
import type { Examination } from './exchange.js';
import { failed, ok, reasonOf, type StepFinding, skipped } from './finding.js';

/** Looks up the name of the host. */
export async function examineName({ url, timeoutMs, signal }: Examination): Promise<StepFinding> {
  const host = hostOf(url);
  if (isIP(host)) return skipped('dns', `${host} is an address.`);
  const end = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const found = await unlessAborted(lookup(host, { all: true }), end);
    const addresses = found.map(({ address }) => address);
    return ok('dns', `${host} is ${addresses.slice(0, 4).join(', ')}${addresses.length > 4 ? ', …' : ''}.`);
  } catch {
    signal.throwIfAborted();
    return end.aborted
      ? failed(
          'dns',
          `The name ${host} is not resolved within ${timeoutMs} ms.`,
          'Check the DNS server and the network of this computer.',
        )
      : failed(
          'dns',
          `The name ${host} has no address.`,
          'Check the spelling and the DNS record, and whether the name needs a VPN.',
        );
  }
}

/** Opens a connection, and closes it. */
export async function examinePort(at: Examination): Promise<StepFinding> {
  const [host, port] = [hostOf(at.url), portOf(at.url)];
  const start = performance.now();
  const socket = connectTcp({ host, port });
  try {
    await opened(socket, 'connect', at);
    return ok('tcp', `Port ${port} answers after ${(performance.now() - start).toFixed(0)} ms.`);
  } catch (error) {
    at.signal.throwIfAborted();
    return codeOf(error) === 'ECONNREFUSED'
      ? failed(
          'tcp',
          `Nothing listens on ${host}:${port} (connection refused).`,
          'Start the server and check the port. In a container, it must listen on 0.0.0.0, and the port must be published.',
        )
      : failed(
          'tcp',
          `${host}:${port} does not answer: ${reasonOf(error)}.`,
          'Check firewalls and security groups between this computer and the server.',
        );
  } finally {
    socket.destroy();
  }
}

function codeOf(error: unknown): string | undefined {
  const { code, errors } = error as NodeJS.ErrnoException & { errors?: readonly NodeJS.ErrnoException[] };
  return code ?? errors?.[0]?.code;
}

/** Resolves with an event of a socket, and rejects when the socket fails or the time is over. */
export function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  { timeoutMs, signal }: Pick<Examination, 'timeoutMs' | 'signal'>,
): Promise<void> {
  const end = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.once(event, () => resolve());
    end.addEventListener('abort', () => reject(new Error(`no answer within ${timeoutMs} ms`)), {
      once: true,
    });
  });
}
