import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, tool } from 'fullmcp';
import { app, appPage, apps, sandboxPage, withApp } from 'fullmcp/apps';
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { until } from '../../support/until.js';
import { describeInWholeChromium } from '../chromium.js';
import type { HostWindow } from './fixtures/host.js';
import { notesUntil, useHosts } from './use-hosts.js';

// The reach of an app in its sandbox: the origins that it declares, and nothing else, in no way that the browser knows.

async function listening(listener: RequestListener) {
  const http = createHttpServer(listener).listen(0, '127.0.0.1');
  let connections = 0;
  http.on('connection', () => connections++);
  await once(http, 'listening');
  afterAll(() => {
    http.closeAllConnections();
    http.close();
  });
  return {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    connections: () => connections,
  };
}

const elsewhere = await listening((_, res) => void res.end('leaked'));
const declared = await listening(({ url }, res) => {
  const to = url === '/moved' ? '/data' : url === '/away' ? `${elsewhere.origin}/` : undefined;
  res.writeHead(to === undefined ? 200 : 302, {
    'access-control-allow-origin': '*',
    ...(to !== undefined && { location: to }),
  });
  res.end('data');
});
const datagrams = createSocket('udp4').bind(0, '127.0.0.1');
let packets = 0;
datagrams.on('message', () => packets++);
await once(datagrams, 'listening');
afterAll(() => void datagrams.close());

const tries = (origin: string): string => `
  const host = await connectToHost();
  const from = (url) => fetch(url).then((response) => response.text(), () => 'blocked');
  const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${datagrams.address().port}' }] });
  peer.createDataChannel('leak');
  const gathered = new Promise((resolve) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve(); });
  await peer.setLocalDescription(await peer.createOffer());
  const tried = {
    own: await from('${origin}/data'),
    moved: await from('${origin}/moved'),
    away: await from('${origin}/away'),
    undeclared: await from('${elsewhere.origin}/fetch'),
  };
  // The browser gathers nothing more: all packets that it lets through are sent.
  await gathered;
  host.log('info', tried);`;
const declaring = app({
  uri: 'ui://test/declaring',
  html: appPage({ script: tries(declared.origin) }),
  csp: { connectDomains: [declared.origin] },
});
const silent = app({ uri: 'ui://test/silent', html: appPage({ script: tries(declared.origin) }) });
const leaving = app({
  uri: 'ui://test/leaving',
  html: `<!doctype html><meta http-equiv="refresh" content="0;url=${elsewhere.origin}/refresh"><p>Leaving.</p>`,
});
const server = createServer({
  name: 'reaching',
  version: '1.0.0',
  tools: {
    declaring: withApp(tool({ run: () => 'done' }), declaring),
    silent: withApp(tool({ run: () => 'done' }), silent),
    leaving: withApp(tool({ run: () => 'done' }), leaving),
  },
  extensions: [apps(declaring, silent, leaving)],
});

describeInWholeChromium('an app in a sandbox that knows the origins of its app', { timeout: 60_000 }, () => {
  const hosts = useHosts(server, 'host');

  async function open(name: string, options: { readonly sandbox?: string }): Promise<Page> {
    const page = await hosts.open('host');
    await page.evaluate(
      ({ url, name, options }) =>
        // The app that leaves is closed before it is ready.
        (window as unknown as HostWindow).show(url, name, options).catch(() => undefined),
      { url: hosts.url(), name, options },
    );
    return page;
  }

  /** Shows an app in the sandbox. Returns what the host notes of it. */
  async function shown(name: string): Promise<unknown[][]> {
    return notesUntil(await open(name, { sandbox: hosts.sandbox() }), (all) => all.length > 0);
  }

  it('reaches what it declares, also by a redirect, and cannot use WebRTC', async () => {
    packets = 0;
    expect(await shown('declaring')).toEqual([
      ['log', 'info', { own: 'data', moved: 'data', away: 'blocked', undeclared: 'blocked' }],
    ]);
    expect([packets, elsewhere.connections()]).toEqual([0, 0]);
  });

  it('reaches nothing if it declares nothing', async () => {
    packets = 0;
    expect(await shown('silent')).toEqual([
      ['log', 'info', { own: 'blocked', moved: 'blocked', away: 'blocked', undeclared: 'blocked' }],
    ]);
    expect([packets, elsewhere.connections()]).toEqual([0, 0]);
  });

  it('opens not even a connection to the page that it wants to leave for', async () => {
    expect(await shown('leaving')).toEqual([['closed', 'The app has left its page.']]);
    expect(elsewhere.connections()).toBe(0);
  });

  it('can send packets by WebRTC without such a sandbox, as the documentation says', async () => {
    packets = 0;
    await open('silent', {});
    await until('a packet arrives', () => packets > 0);
  });
});

it('a sandbox names the origins of its app to the browser only if its host has named them', () => {
  const hosts = ['https://chat.example.com'];
  const allowed = (requestUrl: string): string | undefined =>
    sandboxPage({ hosts, requestUrl }).headers['connection-allowlist'];
  expect(sandboxPage({ hosts }).headers).not.toHaveProperty('connection-allowlist');
  expect(allowed('/')).toBeUndefined();
  expect(allowed('/?origins=')).toBe('();redirects=allow');
  expect(allowed('https://sandbox.example/?origins=https%3A%2F%2Fa.example+wss%3A%2F%2F*.b.example')).toBe(
    '("https://a.example" "wss://*.b.example");redirects=allow',
  );
  for (const odd of ['//', '/#?origins=', 'http://[', '?', '%']) expect(allowed(odd)).toBeUndefined();
  expect(allowed('/?origins=https://a.example")%20*%20("https://b.example')).toBe('();redirects=allow');
});
