// The credentials of the measured requests: an issuer on this machine with one key, tokens that it has signed, proofs of a key.
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

const audience = 'https://bench.example/mcp';

/** Starts an issuer of tokens. */
export async function startIssuer() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'RS256', use: 'sig' };
  const keys = JSON.stringify({ keys: [jwk] });
  const server = createServer((_, res) => res.setHeader('content-type', 'application/json').end(keys));
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const issuer = `http://127.0.0.1:${port}`;
  return {
    facts: { issuer, jwksUri: `${issuer}/keys`, audience },
    /** @param {object} [claims] */
    issue(claims) {
      const now = Math.floor(Date.now() / 1000);
      const payload = {
        ...{ iss: issuer, aud: audience, sub: 'bench', scope: 'read write', client_id: 'bench' },
        ...{ iat: now, exp: now + 86_400, jti: randomUUID(), ...claims },
      };
      return printJwt({ alg: 'RS256', typ: 'at+jwt', kid: 'bench' }, payload, (input) =>
        sign('sha256', input, privateKey),
      );
    },
    close: () => server.close(),
  };
}

/** A client with a key, which proves with each request that it has the key (RFC 9449). */
export function createProver() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { crv, kty, x, y } = publicKey.export({ format: 'jwk' });
  const jwk = { crv, kty, x, y };
  const digest = (text) => createHash('sha256').update(text).digest('base64url');
  return {
    /** The name of the key in tokens that are bound to it. */
    jkt: digest(JSON.stringify(jwk)),
    /**
     * @param {string} token
     * @param {string} url
     */
    prove(token, url) {
      const payload = {
        ...{ jti: randomUUID(), iat: Math.floor(Date.now() / 1000), htm: 'POST', htu: url },
        ath: digest(token),
      };
      return printJwt({ typ: 'dpop+jwt', alg: 'ES256', jwk }, payload, (input) =>
        sign('sha256', input, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
      );
    },
  };
}

function printJwt(header, payload, signBytes) {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${encode(header)}.${encode(payload)}`;
  return `${input}.${signBytes(Buffer.from(input)).toString('base64url')}`;
}
