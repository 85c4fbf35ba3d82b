// Shows an app in a page of the host: a frame without an origin, and the host's end of the bridge.

import { RefusedError, windowChannel } from '../../jsonrpc/window-channel.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { type AppPermission, CANCELLED } from '../../protocol/model/apps/app.js';
import type { HostContext } from '../../protocol/model/apps/host-context.js';
import type { Implementation, ListedTool } from '../../protocol/model/model.js';
import type { CallResult } from '../model/client.js';
import { appFrame } from './app-frame.js';
import { type AppHandlers, type AppViewRequest, appRequests, resultOf } from './app-requests.js';
import { type AppClient, readApp } from './read-app.js';

/** An element of a page. A program that is compiled without the types of the DOM, such as a server, sees an object. */
type PageElement<Name extends 'HTMLElement' | 'HTMLIFrameElement'> = typeof globalThis extends {
  readonly [Type in Name]: { readonly prototype: infer Instance };
}
  ? Instance
  : object;

/** The options of `showApp`. */
export interface ShowAppOptions extends AppHandlers {
  /** The tool whose app is shown, as the client lists it. */
  readonly tool: ListedTool;
  /** The element that the frame is put into. */
  readonly container: PageElement<'HTMLElement'>;
  /** The name and the version of the host. Default: those of fullmcp. */
  readonly info?: Implementation;
  /** The surroundings of the app. `toolInfo` is added. */
  readonly context?: HostContext;
  /** Decides whether a request of the app may be carried out. Default: each may. */
  readonly approve?: (request: AppViewRequest) => boolean | Promise<boolean>;
  /** The features of the browser that the app gets, if it asks for them. Default: none. */
  readonly grant?: readonly AppPermission[];
  /**
   * The address of a page that `sandboxPage` has made, at another origin. The specification wants one for hosts that are websites. Default:
   * none, the sandbox is a frame without an origin.
   */
  readonly sandbox?: string;
  /** Called once if the app is closed because of its behaviour. */
  readonly onClosed?: (reason: string) => void;
  /** The time for the app to answer `close`. Default: 2 s. */
  readonly teardownMs?: number;
}

const showTable = {
  tool: { is: 'object', required: true },
  container: { is: 'object', required: true },
  info: 'object',
  context: 'object',
  approve: 'function',
  grant: { is: 'strings', default: [] },
  sandbox: 'string',
  onMessage: 'function',
  onOpenLink: 'function',
  onModelContext: 'function',
  onDisplayMode: 'function',
  onLog: 'function',
  onSize: 'function',
  onClosed: 'function',
  teardownMs: { is: 'timer', default: 2_000 },
} as const satisfies OptionTable<ShowAppOptions>;

/** An app that is shown. Messages to the app wait until it is ready. */
export interface AppView extends AsyncDisposable {
  /** The frame of the app. */
  readonly frame: PageElement<'HTMLIFrameElement'>;
  /** Resolves when the app has connected. Rejects if it is closed before. */
  readonly ready: Promise<void>;
  /** Calls the tool and shows the call: its arguments, and then its result or its cancellation. */
  readonly run: (args?: Readonly<Record<string, unknown>>, signal?: AbortSignal) => Promise<CallResult>;
  /** Shows the arguments that the model has written so far, if the app is ready. */
  readonly sendPartialInput: (args: Readonly<Record<string, unknown>>) => void;
  /** Shows the arguments of a call, once. */
  readonly sendInput: (args: Readonly<Record<string, unknown>>) => void;
  /** Shows the result of a call, after its arguments. */
  readonly sendResult: (result: Pick<CallResult, 'content' | 'data' | 'isError' | 'meta'>) => void;
  /** Says that the call was cancelled. */
  readonly sendCancelled: (reason?: string) => void;
  /** Changes the surroundings of the app. */
  readonly setContext: (changes: HostContext) => void;
  /** Lets the app finish, and removes it. */
  readonly close: (reason?: string) => Promise<void>;
}

const LEFT = 'The app has left its page.';
/** The most messages that wait for the app. */
const MAX_WAITING = 100;

/**
 * Shows the app of a tool in a page. The frame has no origin and no storage, and a policy that allows only what the app declares. The client
 * must declare the extension: `connect(target, { extensions: [appsClient] })`.
 *
 * @example
 * const view = await showApp(client, { tool, container: document.querySelector('#app') });
 * await view.run({ year: 2026 });
 */
export async function showApp(client: AppClient, options: ShowAppOptions): Promise<AppView> {
  const { tool, container, grant, teardownMs } = readOptions('showApp', options, showTable);
  if ('member' in client)
    throw new TypeError(
      'showApp needs the client of one server, so that an app cannot use others: showApp(await client.member(name), …).',
    );
  const app = await readApp(client, tool);
  if (app === undefined) throw new TypeError(`The tool "${tool.name}" has no app.`);
  const granted = grant.filter((name) => app.permissions.includes(name));
  const shown = appFrame(app, { title: tool.title ?? tool.name, granted, sandbox: options.sandbox });
  const { frame } = shown;
  let context: HostContext = { ...options.context, toolInfo: { tool } };
  let waiting: (() => void)[] | undefined = [];
  let phase: 'new' | 'greeted' | 'ready' | 'closed' = 'new';
  let hasInput = false;
  let loads = 0;
  let becomeReady!: () => void;
  let neverReady!: (reason: Error) => void;
  const ready = new Promise<void>((resolve, reject) => {
    becomeReady = resolve;
    neverReady = reject;
  });
  // Nobody has to wait for it.
  ready.catch(() => undefined);

  const requests = appRequests(client, {
    ...options,
    frame,
    context: () => context,
    capabilities: {
      sandbox: { csp: app.csp, permissions: Object.fromEntries(granted.map((name) => [name, {}])) },
    },
  });

  frame.addEventListener('load', () => {
    // The second page in the frame is not our sandbox.
    if (++loads > 1) fail(LEFT);
  });
  // The frame has its window at once, so the channel is there before the page runs.
  container.append(frame);
  const channel = windowChannel({
    peer: frame.contentWindow as Window,
    origin: shown.origin,
    timeoutMs: 60_000,
    cancelMethod: CANCELLED,
    onNotification(method, params) {
      const sandbox = shown.notice(method);
      if (sandbox === 'ready') channel.notify('ui/notifications/sandbox-resource-ready', shown.resource);
      else if (sandbox === 'left') fail(LEFT);
      else if (method === 'ui/notifications/initialized' && phase === 'greeted') {
        phase = 'ready';
        for (const send of waiting ?? []) send();
        waiting = undefined;
        becomeReady();
      } else if (phase === 'ready') requests.notice(method, params);
    },
    async onRequest(method, params, signal) {
      if (method === 'ping') return {};
      if (method === 'ui/initialize' && phase === 'new') {
        phase = 'greeted';
        return requests.greet(params);
      }
      if (phase !== 'ready')
        throw new RefusedError(
          `${method.slice(0, 100)} is not possible now: initialize first, and once.`,
          -32600,
        );
      return requests.answer({ method, params, signal });
    },
  });

  function deliver(method: string, params: object): void {
    const send = (): void => channel.notify(method, params);
    if (phase === 'closed') return;
    if (waiting === undefined) return send();
    if (waiting.length >= MAX_WAITING)
      throw new Error(`The app is not ready, and ${MAX_WAITING} messages wait for it.`);
    waiting.push(send);
  }

  function end(reason: string): void {
    phase = 'closed';
    waiting = undefined;
    neverReady(new Error(reason));
    channel.close(reason);
    frame.remove();
  }

  function fail(reason: string): void {
    if (phase === 'closed') return;
    end(reason);
    options.onClosed?.(reason);
  }

  async function close(reason = 'The host has closed the app.'): Promise<void> {
    if (phase === 'ready')
      await channel
        .request('ui/resource-teardown', { reason }, { timeoutMs: teardownMs })
        .catch(() => undefined);
    if (phase !== 'closed') end(reason);
  }

  const view: AppView = {
    frame,
    ready,
    async run(args = {}, signal) {
      view.sendInput(args);
      try {
        const result = await client.callTool(tool.name, args, { ...(signal && { signal }) });
        view.sendResult(result);
        return result;
      } catch (error) {
        view.sendCancelled(signal?.aborted ? 'The call was cancelled.' : 'The call failed.');
        throw error;
      }
    },
    sendPartialInput(args) {
      if (!hasInput && phase === 'ready') deliver('ui/notifications/tool-input-partial', { arguments: args });
    },
    sendInput(args) {
      if (hasInput) throw new Error('The app has its input already. Show a new app for each call.');
      hasInput = true;
      deliver('ui/notifications/tool-input', { arguments: args });
    },
    sendResult(result) {
      if (!hasInput) throw new Error('Send the input before the result.');
      deliver('ui/notifications/tool-result', resultOf(result));
    },
    sendCancelled: (reason) =>
      deliver('ui/notifications/tool-cancelled', reason === undefined ? {} : { reason }),
    setContext(changes) {
      context = { ...context, ...changes };
      deliver('ui/notifications/host-context-changed', changes);
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
  return view;
}
