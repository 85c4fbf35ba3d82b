// The apps extension (io.modelcontextprotocol/ui, revision 2026-01-26): the parts that servers, pages and hosts share.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';

/** The identifier of the extension. */
export const UI = 'io.modelcontextprotocol/ui';
/** The media type of an app. */
export const APP_TYPE = 'text/html;profile=mcp-app';
/** The revision of the extension that pages and hosts agree on. */
export const APPS_REVISION = '2026-01-26';
/** The notification that a request was given up. */
export const CANCELLED = 'notifications/cancelled';
/** The key in the `_meta` of a tool that names the app in the oldest form of the extension. */
export const OLD_APP_KEY = 'ui/resourceUri';

/** The origins that a page may use, such as `https://api.example.com` or `https://*.example.com`. Everything else is blocked. */
export interface AppCsp {
  /** Origins for `fetch`, XHR and WebSockets. Default: none. */
  readonly connectDomains?: readonly string[];
  /** Origins of scripts, stylesheets, images, fonts and media. Default: none, only those that are part of the page. */
  readonly resourceDomains?: readonly string[];
  /** Origins of frames inside of the page. Default: none. */
  readonly frameDomains?: readonly string[];
  /** Origins that `<base>` may have. Default: none. */
  readonly baseUriDomains?: readonly string[];
}

/** The keys of `AppCsp`. */
export const CSP_KEYS = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains'] as const;

/** A feature of the browser that an app asks for. */
export type AppPermission = 'camera' | 'microphone' | 'geolocation' | 'clipboardWrite';

/** The features that an app may ask for, with their names in a permissions policy. */
export const APP_PERMISSIONS: Readonly<Record<AppPermission, string>> = {
  camera: 'camera',
  microphone: 'microphone',
  geolocation: 'geolocation',
  clipboardWrite: 'clipboard-write',
};

/** A party that may see and call a tool: the model, or the apps of the same server. */
export type ToolVisibility = 'model' | 'app';

/** The user interface of a tool. */
export interface ToolUi {
  /** The URI of the app that shows the tool's results; undefined if the tool has none. */
  readonly uri: string | undefined;
  /** The parties that may see and call the tool. */
  readonly visibility: readonly ToolVisibility[];
}

/** Reads the user interface of a tool from its `_meta`, in both forms. */
export function uiOf({ _meta = {} }: { readonly _meta?: JsonObject | undefined }): ToolUi {
  const ui = isObject(_meta['ui']) ? _meta['ui'] : {};
  const { resourceUri = _meta[OLD_APP_KEY], visibility = ['model', 'app'] } = ui;
  // A list that cannot be read must not let an app call the tool.
  const parties = Array.isArray(visibility) ? visibility : ['model'];
  return {
    uri: typeof resourceUri === 'string' && isAppUri(resourceUri) ? resourceUri : undefined,
    visibility: (['model', 'app'] as const).filter((party) => parties.includes(party)),
  };
}

/** Whether a URI can be that of an app. */
export function isAppUri(uri: string): boolean {
  return uri.length <= 2048 && /^ui:\/\/[^\s/][^\s]*$/.test(uri);
}

/** Whether a media type is that of an app, however it is written. */
export function isAppType(type: unknown): boolean {
  return typeof type === 'string' && type.length < 100 && type.replaceAll(' ', '').toLowerCase() === APP_TYPE;
}

/**
 * Whether a string is an origin that a content security policy may name: a scheme, a host that may begin with `*.`, and a port. Anything
 * else, such as a keyword, a lone `*` or a semicolon, could widen the policy.
 */
export function isCspOrigin(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > 300) return false;
  const match = /^(?:https?|wss?):\/\/(?:\*\.)?([A-Za-z0-9.-]+)(?::\d{1,5})?$/.exec(text);
  return match?.[1]?.split('.').every((label) => /^[A-Za-z0-9-]+$/.test(label)) ?? false;
}
