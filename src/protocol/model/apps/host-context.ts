// The facts that a host tells an app: who it is, what it can do, and how the app is shown.

import type { ListedTool } from '../model.js';
import type { AppCsp, AppPermission } from './app.js';

/** A way to show an app: within the conversation, on the whole screen, or in a floating window. */
export type DisplayMode = 'inline' | 'fullscreen' | 'pip';

/** The surroundings of an app. A host may leave out everything, and add more. */
export interface HostContext {
  /** The tool whose call the app shows. */
  readonly toolInfo?: {
    /** The id of the call. */
    readonly id?: string | number;
    /** The tool as the server lists it. */
    readonly tool: ListedTool;
  };
  /** The colours of the host. */
  readonly theme?: 'light' | 'dark';
  /** The style of the host. */
  readonly styles?: {
    /** Values of CSS variables, such as `--color-text-primary`. */
    readonly variables?: Readonly<Record<string, string | undefined>>;
    /** CSS that a page can include. */
    readonly css?: {
      /** The rules that load the host's fonts. */
      readonly fonts?: string;
    };
  };
  /** The way that the app is shown now. */
  readonly displayMode?: DisplayMode;
  /** The ways that the host can show apps. */
  readonly availableDisplayModes?: readonly DisplayMode[];
  /** The space for the app in pixels: a size that is fixed, or the largest that the app may have. */
  readonly containerDimensions?: {
    /** The fixed height. */
    readonly height?: number;
    /** The largest height. */
    readonly maxHeight?: number;
    /** The fixed width. */
    readonly width?: number;
    /** The largest width. */
    readonly maxWidth?: number;
  };
  /** The language of the user, such as `en-US`. */
  readonly locale?: string;
  /** The time zone of the user, such as `Europe/Berlin`. */
  readonly timeZone?: string;
  /** The name of the host's program. */
  readonly userAgent?: string;
  /** The kind of device. */
  readonly platform?: 'web' | 'desktop' | 'mobile';
  /** The abilities of the device. */
  readonly deviceCapabilities?: {
    /** Whether the device has a touch screen. */
    readonly touch?: boolean;
    /** Whether the device has a pointer that can hover. */
    readonly hover?: boolean;
  };
  /** The margins in pixels that the device's own controls may cover. */
  readonly safeAreaInsets?: {
    /** The margin at the top. */
    readonly top: number;
    /** The margin at the right. */
    readonly right: number;
    /** The margin at the bottom. */
    readonly bottom: number;
    /** The margin at the left. */
    readonly left: number;
  };
}

/** The features of a host. A page checks them before it uses one. */
export interface HostCapabilities {
  /** The host opens links. */
  readonly openLinks?: object;
  /** The host passes calls of tools on to the server. */
  readonly serverTools?: object;
  /** The host passes reads of resources on to the server. */
  readonly serverResources?: object;
  /** The host takes log messages. */
  readonly logging?: object;
  /** The host takes messages for the conversation. */
  readonly message?: object;
  /** The host takes context for the model. */
  readonly updateModelContext?: object;
  /** The restrictions of the page. */
  readonly sandbox?: {
    /** The features of the browser that the page may use. */
    readonly permissions?: { readonly [Name in AppPermission]?: object };
    /** The origins that the page may use. */
    readonly csp?: AppCsp;
  };
}
