import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mintToken } from 'fullmcp/auth';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import { DpopKey } from '../../../src/oauth/client/hops/dpop-key.js';
import { modern } from '../../support/http/modern.js';
import { startHttp } from '../../support/processes.js';

const script = fileURLToPath(new URL('../fixtures/dpop-server.mjs', import.meta.url));
const secret = 'a secret that both processes have, 32+';
const publicUrl = 'https://mcp.example/mcp';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe('two processes behind one public URL that share a store', () => {
  it('accept each proof of a key once, whichever of them gets it first, even at the same time', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fullmcp-'));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    const processes = await Promise.all(
      [0, 1].map(() => startHttp(script, join(folder, 'store'), secret, publicUrl)),
    );
    for (const { stop } of processes) closing.push(stop);
    const key = await DpopKey.create({ issuer: 'test' });
    const { publicKey } = await key.export();
    const jkt = await calculateJwkThumbprint(publicKey as unknown as JWK);
    const token = await mintToken(
      { sub: 'ann', cnf: { jkt } },
      { secret, issuer: 'test', audience: publicUrl },
    );
    const send = async (url: string, dpop: string) =>
      (await modern(url, 'tools/list', {}, { headers: { authorization: `DPoP ${token}`, dpop } })).status;
    const [one = '', other = ''] = processes.map(({ url }) => url);
    for (let round = 0; round < 10; round++) {
      const proof = await key.prove(publicUrl, 'POST', token);
      const statuses = await Promise.all([one, other, one, other].map((url) => send(url, proof)));
      expect(statuses.sort()).toEqual([200, 401, 401, 401]);
    }
    // A proof for the address of one process is not for the public URL.
    expect(await send(one, await key.prove(one, 'POST', token))).toBe(401);
  });
});
