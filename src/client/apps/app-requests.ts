// Carries out the requests of an app: calls and reads on its server, and those that the host takes itself.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { RefusedError } from '../../jsonrpc/window-channel.js';
import { McpError } from '../../protocol/errors.js';
import { APPS_REVISION, uiOf } from '../../protocol/model/apps/app.js';
import type { DisplayMode, HostCapabilities, HostContext } from '../../protocol/model/apps/host-context.js';
import { type ContentBlock, isContentBlock } from '../../protocol/model/content.js';
import type { Implementation, ListedTool } from '../../protocol/model/model.js';
import { TOOL_PREFIX } from '../../protocol/tables/meta-keys.js';
import type { CallResult } from '../model/client.js';
import { fullmcp } from '../model/options.js';
import type { AppClient } from './read-app.js';

/** A request of an app. */
export interface AppViewRequest {
  /** The method, such as `tools/call`. */
  readonly method: string;
  /** The parameters, as the app sent them. */
  readonly params: Readonly<JsonObject>;
}

/** The functions of a host that apps may use. The app is told which of them there are; a function that throws refuses the request. */
export interface AppHandlers {
  /** Adds a message of the app to the conversation, as one of the user. Ask the user first. */
  readonly onMessage?: (content: readonly ContentBlock[]) => unknown;
  /** Opens a link, which is an http: or https: URL. Ask the user first. */
  readonly onOpenLink?: (url: URL) => unknown;
  /** Takes content for the later turns of the model, in place of that before. */
  readonly onModelContext?: (context: {
    /** Content blocks. */
    readonly content: readonly ContentBlock[];
    /** Data. */
    readonly structuredContent: Readonly<JsonObject> | undefined;
  }) => unknown;
  /** Shows the app in another way. Returns the way that it is shown in then. */
  readonly onDisplayMode?: (mode: DisplayMode) => DisplayMode | Promise<DisplayMode>;
  /** Takes a log message of the app. */
  readonly onLog?: (level: string, data: unknown) => void;
  /** Called when the size of the content changes. Default: the frame gets its height, up to 5000 pixels or `maxHeight`. */
  readonly onSize?: (size: {
    /** The width in pixels. */
    readonly width: number | undefined;
    /** The height in pixels. */
    readonly height: number | undefined;
  }) => void;
}

interface AppRequestParts extends AppHandlers {
  readonly frame: HTMLIFrameElement;
  readonly info?: Implementation;
  readonly approve?: (request: AppViewRequest) => boolean | Promise<boolean>;
  readonly context: () => HostContext;
  readonly capabilities: HostCapabilities;
}

/** The host's side of an app, behind the channel. */
interface AppRequests {
  /** The result of `ui/initialize`. */
  readonly greet: (params: JsonObject) => object;
  /** Answers a request; undefined if the host does not have the method. */
  readonly answer: (
    request: AppViewRequest & { readonly signal: AbortSignal },
  ) => Promise<object | undefined>;
  readonly notice: (method: string, params: JsonObject) => void;
}

const MODES: readonly DisplayMode[] = ['inline', 'fullscreen', 'pip'];
const MAX_PIXELS = 5000;
/** The JSON-RPC code of a refusal. */
const REFUSED = -32000;

export function appRequests(client: AppClient, parts: AppRequestParts): AppRequests {
  let modes: readonly unknown[] = ['inline'];
  let tools: readonly ListedTool[] | undefined;

  /** Refuses a tool that the server does not list, or not for apps. */
  async function checkTool(name: unknown): Promise<string> {
    const find = (): ListedTool | undefined => tools?.find((tool) => tool.name === name);
    if (find() === undefined) tools = await client.tools().all();
    const tool = find();
    // Behind a prefix are the tools of one of several servers. An app calls those of its own server alone.
    const prefix = parts.context().toolInfo?.tool._meta?.[TOOL_PREFIX] ?? '';
    if (tool === undefined || !uiOf(tool).visibility.includes('app') || !tool.name.startsWith(String(prefix)))
      throw new RefusedError('The server has no such tool for apps.', REFUSED);
    return tool.name;
  }

  const methods: Readonly<
    Record<string, (params: JsonObject, signal: AbortSignal) => Promise<object> | undefined>
  > = {
    'tools/call': async ({ name, arguments: args = {} }, signal) => {
      if (!isObject(args)) throw new RefusedError('"arguments" must be an object.', -32602);
      return resultOf(await client.callTool(await checkTool(name), args, { signal }));
    },
    'resources/read': async ({ uri }, signal) => {
      if (typeof uri !== 'string') throw new RefusedError('"uri" must be a string.', -32602);
      const { contents } = await client.readResource(uri, { signal });
      return { contents };
    },
    'ui/open-link': ({ url }) =>
      parts.onOpenLink &&
      done(async () => {
        const target =
          typeof url === 'string' && url.length <= 8192 && URL.canParse(url) ? new URL(url) : undefined;
        if (target?.protocol !== 'https:' && target?.protocol !== 'http:')
          throw new RefusedError('"url" must be an http: or https: URL.', -32602);
        await parts.onOpenLink?.(target);
      }),
    'ui/message': ({ content }) =>
      parts.onMessage &&
      done(() => parts.onMessage?.(blocksOf(Array.isArray(content) ? content : [content]))),
    'ui/update-model-context': ({ content = [], structuredContent }) =>
      parts.onModelContext &&
      done(() =>
        parts.onModelContext?.({
          content: blocksOf(content),
          structuredContent: isObject(structuredContent) ? structuredContent : undefined,
        }),
      ),
    'ui/request-display-mode': async ({ mode }) => {
      const { displayMode = 'inline', availableDisplayModes = ['inline'] } = parts.context();
      const wanted = MODES.find((each) => each === mode);
      const isPossible =
        wanted !== undefined && modes.includes(wanted) && availableDisplayModes.includes(wanted);
      return { mode: isPossible ? ((await parts.onDisplayMode?.(wanted)) ?? displayMode) : displayMode };
    },
  };

  return {
    greet({ appCapabilities }) {
      const declared = isObject(appCapabilities) ? appCapabilities['availableDisplayModes'] : undefined;
      if (Array.isArray(declared)) modes = declared;
      const { onOpenLink, onMessage, onModelContext, onLog } = parts;
      return {
        protocolVersion: APPS_REVISION,
        hostInfo: parts.info ?? fullmcp,
        hostCapabilities: {
          ...parts.capabilities,
          ...{ serverTools: {}, serverResources: {} },
          ...(onOpenLink && { openLinks: {} }),
          ...(onLog && { logging: {} }),
          ...(onMessage && { message: { text: {} } }),
          ...(onModelContext && { updateModelContext: { text: {}, structuredContent: {} } }),
        },
        hostContext: parts.context(),
      };
    },
    async answer({ method, params, signal }) {
      if (!Object.hasOwn(methods, method)) return undefined;
      if ((await parts.approve?.({ method, params })) === false)
        throw new RefusedError('The host does not allow this.', REFUSED);
      try {
        return await methods[method]?.(params, signal);
      } catch (error) {
        if (error instanceof RefusedError) throw error;
        // The reasons of the host are its own.
        if (!McpError.is(error)) throw new RefusedError('The host has refused the request.', REFUSED);
        throw new RefusedError(error.message, error.number ?? REFUSED);
      }
    },
    notice(method, params) {
      const { level, data, width, height } = params;
      if (method === 'notifications/message' && typeof level === 'string')
        parts.onLog?.(level.slice(0, 20), data);
      if (method !== 'ui/notifications/size-changed') return;
      const size = { width: pixels(width), height: pixels(height) };
      const { maxHeight = MAX_PIXELS, height: fixed } = parts.context().containerDimensions ?? {};
      if (parts.onSize !== undefined) parts.onSize(size);
      else if (size.height !== undefined && fixed === undefined)
        parts.frame.style.height = `${Math.min(size.height, maxHeight, MAX_PIXELS)}px`;
    },
  };
}

/** The result of a tool as the protocol has it. */
export function resultOf({
  content,
  data,
  isError,
  meta,
}: Pick<CallResult, 'content' | 'data' | 'isError' | 'meta'>): object {
  return {
    content,
    ...(data !== undefined && { structuredContent: data }),
    ...(isError && { isError }),
    ...(meta && { _meta: meta }),
  };
}

async function done(work: () => unknown): Promise<object> {
  await work();
  return {};
}

function blocksOf(content: unknown): readonly ContentBlock[] {
  if (!Array.isArray(content) || content.length > 100 || !content.every(isContentBlock))
    throw new RefusedError('"content" must be an array of content blocks.', -32602);
  return content;
}

function pixels(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value < 1_000_000 ? Math.ceil(value) : undefined;
}
