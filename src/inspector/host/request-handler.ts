// Answers the requests of a browser to an inspector, at the root of a server or below a path of one.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Inspector } from '../contract/inspector.js';
import { answerApi } from './api.js';
import { type Assets, loadAssets } from './assets.js';
import { EventStreams } from './event-streams.js';
import {
  isEncrypted,
  ownOrigins,
  ownPort,
  type Refusal,
  refuseOtherPages,
  refusePeer,
  refuseUpgrade,
} from './guard.js';
import { refuse, send } from './reply.js';
import { openSandbox, type Sandbox } from './sandbox.js';
import { hasTokenCookie, isToken, tokenCookie } from './secret.js';

export interface RequestHandlerOptions {
  readonly token: string;
  /** The path that the inspector is below, with a slash at both ends. */
  readonly base: string;
  /** Called with the address, with its token, when someone on this computer asks for the page without the token. */
  readonly onStranger?: (origin: string) => void;
}

export interface RequestHandler {
  /** Answers a request. Returns false, and does nothing, if its path is not below the base. */
  readonly handle: (req: IncomingMessage, res: ServerResponse) => boolean;
  readonly close: () => Promise<void>;
}

export const NO_TOKEN: Refusal = {
  status: 401,
  message:
    'This page needs its token. Open the address that was printed where the inspector was started: it ends with ?token=… and works until the inspector ends.',
};

/** Makes the handler. The page is read from the package now, so that a broken installation is noticed at once. */
export function requestHandler(inspector: Inspector, options: RequestHandlerOptions): RequestHandler {
  const { token, base, onStranger } = options;
  const assets = loadAssets();
  const streams = new EventStreams(inspector);
  let sandbox: Promise<Sandbox | undefined> | undefined;

  function handle(req: IncomingMessage, res: ServerResponse): boolean {
    // Express and others cut the path that they have found.
    const { originalUrl } = req as { originalUrl?: string };
    const [path = '', query = ''] = (originalUrl ?? req.url ?? '').split('?', 2);
    if (path !== base.slice(0, -1) && !path.startsWith(base)) return false;
    void answer(path.slice(base.length), query, req, res).catch(() => res.destroy());
    return true;
  }

  async function answer(
    path: string,
    query: string,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const isApi = path.startsWith('api/');
    const refusal = refusePeer(req) ?? refuseUpgrade(req);
    if (refusal !== undefined) return refuse(req, res, refusal, { isApi });
    const given = isApi ? null : new URLSearchParams(query).get('token');
    const isKnown = given === null ? hasTokenCookie(req, token, ownPort(req)) : isToken(given, token);
    if (!isKnown) {
      if (!isApi && path === '') onStranger?.(ownOrigins(req)[0] ?? '');
      return refuse(req, res, NO_TOKEN, { isApi });
    }
    if (isApi) return api(path.slice('api/'.length), req, res);
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return refuse(req, res, { status: 405, message: 'This address takes GET only.' }, { isApi });
    const { originalUrl = req.url ?? '' } = req as { originalUrl?: string };
    // Addresses in the page are relative to its folder.
    if (path === '' && !originalUrl.startsWith(base))
      return send(req, res, {
        status: 308,
        headers: { location: `${base}${query && `?${query}`}` },
        body: '',
      });
    if (path === '') return sendPage(assets, req, res);
    return sendAsset(assets, path, req, res);
  }

  async function api(path: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const foreign = refuseOtherPages(req);
    if (foreign !== undefined) return refuse(req, res, foreign, { isApi: true });
    const sandboxOrigin = (await openedSandbox(req))?.origin;
    await answerApi({ inspector, streams, sandboxOrigin }, path, req, res);
  }

  async function sendPage(files: Assets, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const page = files.find('index.html', req.headers['accept-encoding']);
    const place = { port: ownPort(req), path: base, isEncrypted: isEncrypted(req) };
    send(req, res, {
      headers: {
        ...page?.headers,
        'content-security-policy': pagePolicy(files.styleHash, (await openedSandbox(req))?.origin),
        'set-cookie': tokenCookie(token, place),
      },
      body: page?.body ?? '',
    });
  }

  /** Apps cannot be shown where the sandbox does not start; everything else works. */
  function openedSandbox(req: IncomingMessage): Promise<Sandbox | undefined> {
    sandbox ??= openSandbox(ownOrigins(req).filter((origin) => !origin.includes('['))).catch(() => undefined);
    return sandbox;
  }

  return {
    handle,
    close: async () => {
      streams.close();
      await (await sandbox)?.close();
    },
  };
}

function sendAsset(assets: Assets, name: string, req: IncomingMessage, res: ServerResponse): void {
  const asset = name === 'index.html' ? undefined : assets.find(name, req.headers['accept-encoding']);
  if (asset === undefined)
    return refuse(req, res, { status: 404, message: 'The inspector has no such page.' }, { isApi: false });
  // The name has a hash of the content in it.
  const headers = { ...asset.headers, 'cache-control': 'private, max-age=31536000, immutable' };
  send(req, res, { headers, body: asset.body });
}

/**
 * The policy of the page: it runs its own files only, and talks to nobody but the inspector. Apps are shown by pages of the sandbox's
 * origin.
 */
function pagePolicy(styleHash: string, sandboxOrigin: string | undefined): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' '${styleHash}'`,
    "img-src 'self' data: blob:",
    'media-src data: blob:',
    "font-src 'self'",
    "connect-src 'self'",
    `frame-src ${sandboxOrigin ?? "'none'"}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}
