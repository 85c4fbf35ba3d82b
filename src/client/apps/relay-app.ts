// The script of a sandbox page: shows an app in a frame of its own, and passes messages between the app and the host. Bundled into the page.

import { APP_PERMISSIONS } from '../../protocol/model/apps/app.js';
import { readCsp, readPermissions, withPolicy } from './content-policy.js';

/** The messages that are between the host and the sandbox alone begin with this. */
const OWN = 'ui/notifications/sandbox-';

/** Waits for an app from one of the hosts, given as origins, and shows it. */
export function relayApp(hosts: readonly string[]): void {
  const { parent } = window;
  let inner: HTMLIFrameElement | undefined;
  let host: string | undefined;
  let loads = 0;

  addEventListener('message', ({ source, origin, data }: MessageEvent<unknown>) => {
    const { method, params } = (data ?? {}) as { method?: unknown; params?: Record<string, unknown> };
    const isOwn = typeof method === 'string' && method.startsWith(OWN);
    if (source === parent && origin === (host ?? origin) && hosts.includes(origin)) {
      if (!isOwn) inner?.contentWindow?.postMessage(data, '*');
      else if (
        method === `${OWN}resource-ready` &&
        inner === undefined &&
        typeof params?.['html'] === 'string'
      ) {
        host = origin;
        show(params['html'], params);
      }
    } else if (source !== null && source === inner?.contentWindow && !isOwn) tell(data);
  });
  parent.postMessage({ jsonrpc: '2.0', method: `${OWN}proxy-ready`, params: {} }, '*');

  function tell(message: unknown): void {
    if (host !== undefined) parent.postMessage(message, host);
  }

  function show(html: string, { csp, permissions }: Record<string, unknown>): void {
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', 'allow-scripts allow-forms');
    frame.allow = readPermissions(permissions)
      .map((name) => `${APP_PERMISSIONS[name]} *`)
      .join('; ');
    frame.srcdoc = withPolicy(html, readCsp(csp));
    frame.addEventListener('load', () => {
      if (++loads < 2) return;
      frame.remove();
      tell({ jsonrpc: '2.0', method: `${OWN}left`, params: {} });
    });
    inner = frame;
    document.body.append(frame);
  }
}
