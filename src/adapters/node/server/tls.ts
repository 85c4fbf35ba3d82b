import type { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import type { Server as HttpsServer, ServerOptions } from 'node:https';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { every } from '../../../async/every.js';
import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import { isPath, readPem } from '../files/pem.js';

// TLS for a server: its certificate, which may be renewed while it runs, and the certificates of its clients.

/** A certificate or key: PEM text, bytes, or the path of a PEM file. A string without `-----BEGIN` is a path. */
type PemOrPath = string | Uint8Array;

/** The certificate and key of a server. Files are read again while the server runs, so that it uses a renewed certificate. */
export interface TlsOptions {
  /** The certificate, followed by those of intermediate authorities. */
  readonly cert?: PemOrPath | readonly PemOrPath[] | undefined;
  /** The private key of `cert`. */
  readonly key?: PemOrPath | readonly PemOrPath[] | undefined;
  /** The password of `key` or `pfx`. */
  readonly passphrase?: string | undefined;
  /** The certificate and the key in one, in PKCS #12 format: the bytes, or the path of a file. Instead of `cert` and `key`. */
  readonly pfx?: string | Uint8Array | undefined;
  /** The authorities whose client certificates are accepted. Needed with `requestCert`. */
  readonly ca?: PemOrPath | readonly PemOrPath[] | undefined;
  /** Whether a client must present a certificate that `ca` has signed. Connections without one are closed. Default: false. */
  readonly requestCert?: boolean | undefined;
  /** The oldest version of TLS to accept. Default: `TLSv1.2`. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined;
  /** The time between two checks whether the files have changed; 0 for never. Default: 60 s. */
  readonly reloadMs?: number | undefined;
}

const optionTable = {
  cert: 'any',
  key: 'any',
  passphrase: 'string',
  pfx: 'any',
  ca: 'any',
  requestCert: { is: 'boolean', default: false },
  minVersion: { oneOf: ['TLSv1.2', 'TLSv1.3'], default: 'TLSv1.2' },
  reloadMs: { is: 'timer', default: 60_000 },
} as const satisfies OptionTable<TlsOptions>;

const foreignNames = {
  rejectUnauthorized: 'With `requestCert`, clients without a valid certificate are always rejected.',
  certificate: 'cert',
  privateKey: 'key',
};

/** The time for a client to complete the handshake. */
const HANDSHAKE_MS = 10_000;

/** The TLS of a server. */
export interface ServerTls {
  /** The options for `node:https`. */
  readonly options: ServerOptions;
  /** Reads the files again from time to time, until the returned function is called. */
  readonly watch: (server: HttpsServer, warn: (message: string) => void) => () => void;
}

/** Reads the certificate and the key. Throws an error that says what is wrong with them. */
export function openTls(options: TlsOptions): ServerTls {
  const tls = readOptions('serve: tls', options, optionTable, foreignNames);
  const { cert, key, pfx, ca, requestCert, reloadMs: intervalMs } = tls;
  if (pfx === undefined && (cert === undefined || key === undefined))
    throw new TypeError('serve: `tls` needs `cert` and `key`: PEM text, or the paths of PEM files.');
  // Without it, a certificate that any public authority has signed would do.
  if (requestCert && ca === undefined)
    throw new TypeError('serve: `tls.requestCert` needs `tls.ca`, the authorities that sign your clients.');
  const first = readContext(tls);

  return {
    options: { ...first, requestCert, rejectUnauthorized: true, handshakeTimeout: HANDSHAKE_MS },
    watch(server, warn) {
      if (intervalMs === 0 || ![cert, key, pfx, ca].flat().some(isPath)) return () => undefined;
      let current = first;
      let reported = '';
      return every(intervalMs, () => {
        try {
          const next = readContext(tls);
          if (isSame(current, next)) return;
          server.setSecureContext(next);
          current = next;
          reported = '';
        } catch (error) {
          // While a certificate is renewed, the files may not belong together for a moment.
          const { message } = error as Error;
          if (message !== reported) warn(`${message} The server continues with the certificate that it has.`);
          reported = message;
        }
      });
    },
  };
}

type Context = Pick<SecureContextOptions, 'passphrase' | 'minVersion'> &
  Readonly<Record<'cert' | 'key' | 'ca' | 'pfx', Buffer[] | undefined>>;

/** Reads the files, and checks that the certificates can be read and that the key belongs to them. */
function readContext({ cert, key, ca, pfx, passphrase, minVersion = 'TLSv1.2' }: TlsOptions): Context {
  try {
    const context = {
      cert: readPem('cert', cert),
      key: readPem('key', key),
      ca: readPem('ca', ca),
      pfx: readPem('pfx', pfx),
      ...(passphrase !== undefined && { passphrase }),
      minVersion,
    };
    // Node ignores certificate authorities that it cannot read.
    for (const authority of context.ca ?? []) new X509Certificate(authority);
    createSecureContext(context as SecureContextOptions);
    return context;
  } catch (error) {
    throw new Error(
      `serve: the option \`tls\` cannot be used (${(error as Error).message}). \`cert\`, \`key\` and \`ca\` must be PEM text or paths of PEM files, and \`key\` must belong to \`cert\`.`,
    );
  }
}

function isSame(one: Context, other: Context): boolean {
  return (['cert', 'key', 'ca', 'pfx'] as const).every((part) => {
    const [before, after] = [one[part] ?? [], other[part] ?? []];
    return before.length === after.length && before.every((bytes, at) => bytes.equals(after[at] as Buffer));
  });
}
