// The bridge: the part of a page that talks to the host that shows it. Bundled into the page, so it loads nothing else.

import { windowChannel } from '../../jsonrpc/window-channel.js';
import { APPS_REVISION, CANCELLED } from '../../protocol/model/apps/app.js';
import type { DisplayMode, HostCapabilities, HostContext } from '../../protocol/model/apps/host-context.js';
import type { ContentBlock, ResourceContents } from '../../protocol/model/content.js';
import type { Implementation } from '../../protocol/model/model.js';
import { TOOL_PREFIX } from '../../protocol/tables/meta-keys.js';
import { applyStyles, watchSize } from './page-layout.js';

/** The result of a tool as a host passes it on. */
export interface AppToolResult {
  /** The content blocks, in order. */
  readonly content: readonly ContentBlock[];
  /** The structured content; undefined if there is none. */
  readonly structuredContent?: unknown;
  /** Whether the tool failed. */
  readonly isError?: boolean;
  /** Metadata of any kind. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The options of one request to the host. */
type HostRequestOptions = {
  /** The time after which the request fails. Default: that of `connectToHost`. */
  readonly timeoutMs?: number;
  /** Cancels the request. */
  readonly signal?: AbortSignal;
};

/** The options of `connectToHost`. */
export interface ConnectToHostOptions {
  /** The name of the app. Default: the title of the page. */
  readonly name?: string;
  /** The version of the app. Default: 1.0.0. */
  readonly version?: string;
  /** The ways that the app can be shown. Default: `inline` alone. */
  readonly displayModes?: readonly DisplayMode[];
  /** Called with the arguments of the tool's call. */
  readonly onInput?: (args: Readonly<Record<string, unknown>>) => void;
  /** Called with the arguments that the model has written so far. Do not act on them. */
  readonly onPartialInput?: (args: Readonly<Record<string, unknown>>) => void;
  /** Called with the result of the tool's call. */
  readonly onResult?: (result: AppToolResult) => void;
  /** Called when the tool's call was cancelled. */
  readonly onCancelled?: (reason: string | undefined) => void;
  /** Called with the surroundings of the page: at first, and whenever they change. */
  readonly onContext?: (context: HostContext) => void;
  /** Called before the host removes the page. The host waits for the promise, but not for long. */
  readonly onTeardown?: (reason: string | undefined) => unknown;
  /** Whether the host is told the size of the page whenever it changes. Default: true. */
  readonly resize?: boolean;
  /** Whether the page takes on the colours, variables and fonts of the host. Default: true. */
  readonly styles?: boolean;
  /** The time after which a request to the host fails. Default: 60 s. */
  readonly timeoutMs?: number;
}

/** The host of a page. A request that the host refuses throws its error. */
export interface AppHost {
  /** The name and the version of the host. */
  readonly info: Implementation;
  /** The features of the host. */
  readonly capabilities: HostCapabilities;
  /** The surroundings of the page now. */
  readonly context: HostContext;
  /** Calls a tool of the server that the page comes from. The tool must be visible to apps. */
  readonly callTool: (
    name: string,
    args?: Readonly<Record<string, unknown>>,
    options?: HostRequestOptions,
  ) => Promise<AppToolResult>;
  /** Reads a resource of the server that the page comes from. */
  readonly readResource: (
    uri: string,
    options?: HostRequestOptions,
  ) => Promise<{
    /** The parts of the resource. */
    readonly contents: readonly ResourceContents[];
  }>;
  /** Adds a message of the user to the conversation. */
  readonly sendMessage: (content: string | readonly ContentBlock[]) => Promise<void>;
  /** Tells the model something in its later turns. Each call replaces the one before. */
  readonly updateModelContext: (context: {
    /** Content blocks. */
    readonly content?: readonly ContentBlock[];
    /** Data. */
    readonly structuredContent?: Readonly<Record<string, unknown>>;
  }) => Promise<void>;
  /** Opens a link outside of the page. */
  readonly openLink: (url: string) => Promise<void>;
  /** Asks to be shown in another way. Returns the way that the host has chosen. */
  readonly requestDisplayMode: (mode: DisplayMode) => Promise<DisplayMode>;
  /** Writes to the log of the host. */
  readonly log: (level: 'debug' | 'info' | 'notice' | 'warning' | 'error', data: unknown) => void;
  /** Sends any request, such as one of a newer revision. */
  readonly request: (method: string, params?: object, options?: HostRequestOptions) => Promise<unknown>;
  /** Sends any notification. */
  readonly notify: (method: string, params?: object) => void;
  /** Stops listening. Open requests fail. */
  readonly close: () => void;
}

/**
 * Connects a page to the host that shows it. Only messages of the parent window are read, and once it has answered, only those of its
 * origin.
 *
 * @example
 * const host = await connectToHost({ onResult: ({ structuredContent }) => draw(structuredContent) });
 * button.onclick = () => host.callTool('refresh', { year: 2026 });
 */
export async function connectToHost(options: ConnectToHostOptions = {}): Promise<AppHost> {
  const { name = document.title || 'app', version = '1.0.0', displayModes = ['inline'] } = options;
  const { timeoutMs = 60_000, styles = true, resize = true } = options;
  // Options are not checked with a table here: it would weigh as much as the rest of what a page bundles.
  if (window.parent === window)
    throw new Error('No host shows this page: it has no parent window. Open it as an app of an MCP server.');
  const channel = windowChannel({
    peer: window.parent,
    timeoutMs,
    cancelMethod: CANCELLED,
    onNotification,
    onRequest,
  });
  let context: HostContext = {};
  let stopWatching: (() => void) | undefined;

  function onNotification(method: string, params: Record<string, unknown>): void {
    const { arguments: args = {}, reason } = params as { arguments?: object; reason?: string };
    const given = args as Readonly<Record<string, unknown>>;
    if (method === 'ui/notifications/tool-input') options.onInput?.(given);
    else if (method === 'ui/notifications/tool-input-partial') options.onPartialInput?.(given);
    else if (method === 'ui/notifications/tool-result')
      options.onResult?.({ ...(params as object as AppToolResult), content: contentOf(params) });
    else if (method === 'ui/notifications/tool-cancelled') options.onCancelled?.(reason);
    else if (method === 'ui/notifications/host-context-changed') change(params);
  }

  async function onRequest(method: string, params: Record<string, unknown>): Promise<object | undefined> {
    if (method === 'ping') return {};
    if (method !== 'ui/resource-teardown') return undefined;
    await options.onTeardown?.(params['reason'] as string | undefined);
    setTimeout(close);
    return {};
  }

  function change(changes: HostContext): void {
    context = { ...context, ...changes };
    if (styles) applyStyles(changes);
    options.onContext?.(context);
  }

  function close(): void {
    stopWatching?.();
    channel.close('The page has closed its connection to the host.');
  }

  async function request(method: string, params: object = {}, given?: HostRequestOptions): Promise<object> {
    return channel.request(method, params, given);
  }

  const said = (await request('ui/initialize', {
    protocolVersion: APPS_REVISION,
    appInfo: { name, version },
    appCapabilities: { availableDisplayModes: displayModes },
  }).catch((error: unknown) => {
    close();
    throw error;
  })) as {
    hostInfo?: Implementation;
    hostCapabilities?: HostCapabilities;
    hostContext?: HostContext;
  };
  change(said.hostContext ?? {});
  channel.notify('ui/notifications/initialized', {});
  if (resize) stopWatching = watchSize((size) => channel.notify('ui/notifications/size-changed', size));

  return {
    info: said.hostInfo ?? { name: 'unknown', version: '' },
    capabilities: said.hostCapabilities ?? {},
    get context() {
      return context;
    },
    async callTool(tool, args = {}, given) {
      // If the server is mounted in another one, its tools have other names there.
      const prefix = context.toolInfo?.tool?._meta?.[TOOL_PREFIX] ?? '';
      const result = await request('tools/call', { name: `${prefix}${tool}`, arguments: args }, given);
      return { ...result, content: contentOf(result) };
    },
    async readResource(uri, given) {
      return (await request('resources/read', { uri }, given)) as { contents: readonly ResourceContents[] };
    },
    async sendMessage(content) {
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      const { isError } = (await request('ui/message', { role: 'user', content: blocks })) as {
        isError?: boolean;
      };
      if (isError === true) throw new Error('The host did not take the message.');
    },
    async updateModelContext(update) {
      await request('ui/update-model-context', update);
    },
    async openLink(url) {
      const { isError } = (await request('ui/open-link', { url })) as { isError?: boolean };
      if (isError === true) throw new Error('The host did not open the link.');
    },
    async requestDisplayMode(mode) {
      return ((await request('ui/request-display-mode', { mode })) as { mode: DisplayMode }).mode;
    },
    log: (level, data) => channel.notify('notifications/message', { level, data, logger: name }),
    request,
    notify: channel.notify,
    close,
  };
}

/** The content of a result; an empty array if the host sent something else. */
function contentOf(result: object): readonly ContentBlock[] {
  const { content } = result as { content?: unknown };
  return Array.isArray(content) ? content : [];
}
