// The frame of an app: a sandbox, without an origin or at an origin of its own, that has the app in an inner frame. With one frame alone, an
// app could go to another page, which would not have its policy, and still talk to the host.

import { APP_PERMISSIONS, type AppCsp, type AppPermission } from '../../protocol/model/apps/app.js';
import type { ReadApp } from './read-app.js';
import { relayPage, sandboxUrl } from './sandbox-page.js';

interface AppFrameOptions {
  readonly title: string;
  readonly granted: readonly AppPermission[];
  /** The address of the sandbox; undefined for one without an origin. */
  readonly sandbox: string | undefined;
}

interface AppFrame {
  readonly frame: HTMLIFrameElement;
  /** The origin of the messages that come from the frame. */
  readonly origin: string;
  /** Reads a notification that is not one of the app, but of its sandbox. */
  readonly notice: (method: string) => 'ready' | 'left' | undefined;
  /** The message that gives the app to its sandbox. */
  readonly resource: object;
}

export function appFrame(app: ReadApp, { title, granted, sandbox }: AppFrameOptions): AppFrame {
  const frame = document.createElement('iframe');
  frame.referrerPolicy = 'no-referrer';
  frame.title = title;
  frame.allow = granted.map((name) => `${APP_PERMISSIONS[name]} *`).join('; ');
  frame.style.cssText = `width: 100%; border: ${app.prefersBorder === true ? '1px solid' : '0'}`;
  const { html, csp } = app;
  const permissions = Object.fromEntries(granted.map((name) => [name, {}]));
  const resource = { html, csp, permissions };
  let isGiven = false;
  return {
    frame,
    origin: sandbox === undefined ? withoutOrigin(frame, csp) : atOrigin(frame, sandbox, csp),
    resource,
    notice(method) {
      if (method === 'ui/notifications/sandbox-left') return 'left';
      if (method !== 'ui/notifications/sandbox-proxy-ready' || isGiven) return undefined;
      isGiven = true;
      return 'ready';
    },
  };
}

function withoutOrigin(frame: HTMLIFrameElement, { frameDomains = [] }: AppCsp): string {
  frame.setAttribute('sandbox', 'allow-scripts allow-forms');
  frame.srcdoc = relayPage([location.origin], frameDomains);
  return 'null';
}

function atOrigin(frame: HTMLIFrameElement, sandbox: string, csp: AppCsp): string {
  const url = new URL(sandbox, location.href);
  const { origin, protocol } = url;
  if (origin === location.origin || (protocol !== 'https:' && protocol !== 'http:'))
    throw new TypeError('showApp: "sandbox" must be a page at another origin than that of the host.');
  // The sandbox keeps its origin, so that its messages can be told from those of others.
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms');
  frame.src = sandboxUrl(url, csp);
  return origin;
}
