import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

// A certificate authority that lives as long as a test.

const run = promisify(execFile);

export interface Issued {
  /** The path of the certificate. */
  readonly certFile: string;
  /** The path of its key. */
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends AsyncDisposable {
  /** The folder with all files. */
  readonly folder: string;
  /** The path of the authority's own certificate. */
  readonly caFile: string;
  readonly ca: string;
  /** Issues a certificate for this machine, or for a client with this name. With -1 day, it has already ended. */
  readonly issue: (name: string, use?: 'server' | 'client', days?: number) => Promise<Issued>;
  /** Puts a certificate and its key into one file in PKCS #12 format. */
  readonly bundle: (
    issued: Issued,
    password: string,
  ) => Promise<{ readonly file: string; readonly bytes: Buffer }>;
}

/** Makes a new authority with openssl. */
export async function makeAuthority(): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), 'fullmcp-tls-'));
  const at = (file: string): string => join(folder, file);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await run('openssl', [
    ...['req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=Test authority'],
    ...['-keyout', at('ca-key.pem'), '-out', at('ca.pem')],
  ]);

  async function issue(name: string, use: 'server' | 'client' = 'server', days = 2): Promise<Issued> {
    const [certFile, keyFile] = [at(`${name}-cert.pem`), at(`${name}-key.pem`)];
    const names = use === 'server' ? 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' : '';
    await writeFile(at('extensions'), `${names}extendedKeyUsage=${use}Auth\n`);
    await run('openssl', [
      ...['req', ...newKey, '-subj', `/CN=${name}`, '-keyout', keyFile, '-out', at('request.pem')],
    ]);
    await run('openssl', [
      ...['x509', '-req', '-in', at('request.pem'), '-days', String(days), '-CA', at('ca.pem')],
      ...['-CAkey', at('ca-key.pem'), '-CAcreateserial', '-extfile', at('extensions'), '-out', certFile],
    ]);
    return {
      certFile,
      keyFile,
      cert: await readFile(certFile, 'utf8'),
      key: await readFile(keyFile, 'utf8'),
    };
  }

  async function bundle({ certFile, keyFile }: Issued, password: string) {
    const file = at('bundle.p12');
    await run('openssl', [
      ...['pkcs12', '-export', '-in', certFile, '-inkey', keyFile, '-passout', `pass:${password}`],
      ...['-out', file],
    ]);
    return { file, bytes: await readFile(file) };
  }

  return {
    folder,
    caFile: at('ca.pem'),
    ca: await readFile(at('ca.pem'), 'utf8'),
    issue,
    bundle,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
