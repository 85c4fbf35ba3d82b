import { createServer, tool } from 'fullmcp';
import {
  app,
  appPage,
  apps,
  appsClient,
  connectToHost,
  type ShowAppOptions,
  sandboxPage,
  showApp,
  withApp,
} from 'fullmcp/apps';
import { testClient } from 'fullmcp/testing';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';

// Both ends of the bridge between a page and its host, each in a window that records what it sends. Nothing is shown.

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Makes this process a window with a neighbour. `answer` is told each message that the window sends to it. */
function openWindow(answer: (message: Message, reply: (message: Message) => void) => void) {
  const events = new EventTarget();
  const sent: Message[] = [];
  const neighbour = {
    postMessage(message: Message) {
      sent.push(message);
      answer(message, receive);
    },
  };
  function receive(message: Message, origin = 'null'): void {
    const event = Object.assign(new Event('message'), { source: neighbour, origin });
    events.dispatchEvent(Object.assign(event, { data: { jsonrpc: '2.0', ...message } }));
  }
  vi.stubGlobal('addEventListener', events.addEventListener.bind(events));
  vi.stubGlobal('removeEventListener', events.removeEventListener.bind(events));
  return { neighbour, sent, receive, methods: () => sent.flatMap(({ method }) => method ?? []) };
}

/** A page whose host answers at once. */
function openPage() {
  const sizes: (() => void)[] = [];
  const page = openWindow(({ id, method }, reply) => {
    if (method === 'ui/initialize') queueMicrotask(() => reply({ id: id as number, result: {} }));
  });
  vi.stubGlobal('window', { parent: page.neighbour });
  vi.stubGlobal('document', {
    title: '',
    documentElement: { dataset: {}, style: {}, getBoundingClientRect: () => ({ width: 10, height: 20 }) },
  });
  vi.stubGlobal(
    'ResizeObserver',
    class {
      readonly #report: () => void;
      constructor(report: () => void) {
        this.#report = report;
      }
      observe(): void {
        sizes.push(this.#report);
      }
      disconnect(): void {}
    },
  );
  return { ...page, resize: () => sizes.forEach((report) => void report()) };
}

test('A page tells the host the ways that it can be shown in, and only `inline` if it does not say', async () => {
  const { sent } = openPage();
  await connectToHost();
  await connectToHost({ displayModes: ['inline', 'fullscreen'] });
  const greetings = sent.filter(({ method }) => method === 'ui/initialize');
  expect(greetings.map(({ params }) => params?.['appCapabilities'])).toEqual([
    { availableDisplayModes: ['inline'] },
    { availableDisplayModes: ['inline', 'fullscreen'] },
  ]);
});

test('A page gets the arguments that the model has written so far apart from those of the call', async () => {
  const { receive } = openPage();
  const seen: unknown[] = [];
  await connectToHost({
    onPartialInput: (args) => seen.push(['so far', args]),
    onInput: (args) => seen.push(['all', args]),
  });
  receive({ method: 'ui/notifications/tool-input-partial', params: { arguments: { year: 20 } } });
  receive({ method: 'ui/notifications/tool-input', params: { arguments: { year: 2026 } } });
  expect(seen).toEqual([
    ['so far', { year: 20 }],
    ['all', { year: 2026 }],
  ]);
});

test('A page reports its size when it changes, and never with `resize: false`', async () => {
  const { sent, methods, resize } = openPage();
  await connectToHost({ resize: false });
  resize();
  expect(methods()).not.toContain('ui/notifications/size-changed');
  await connectToHost();
  resize();
  expect(sent.at(-1)).toMatchObject({
    method: 'ui/notifications/size-changed',
    params: { width: 10, height: 20 },
  });
});

test('A page takes on the theme of its host, unless `styles` is false', async () => {
  const { receive } = openPage();
  const { dataset } = document.documentElement;
  const change = { method: 'ui/notifications/host-context-changed', params: { theme: 'dark' } };
  const plain = await connectToHost({ styles: false });
  receive(change);
  expect([dataset['theme'], plain.context.theme]).toEqual([undefined, 'dark']);
  await connectToHost();
  receive(change);
  expect(dataset['theme']).toBe('dark');
});

test('A request to the host ends when its signal is aborted, and the host is told', async () => {
  const { sent } = openPage();
  const host = await connectToHost();
  const abort = new AbortController();
  const call = host.callTool('slow', {}, { signal: abort.signal });
  abort.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
  const { id } = sent.find(({ method }) => method === 'tools/call') as Message;
  expect(sent.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } });
});

test('A sandbox lets apps embed the origins in `frames`, and none without them', () => {
  const hosts = ['https://chat.example.com'];
  const policy = (frames?: readonly string[]) =>
    sandboxPage({ hosts, ...(frames && { frames }) }).headers['content-security-policy'];
  expect(policy(['https://maps.example.com'])).toContain('https://maps.example.com');
  expect(policy()).not.toContain('maps.example.com');
});

/** The host of an app that asks for the camera and the microphone. */
async function openHost(options: Partial<ShowAppOptions>) {
  const page = app({
    uri: 'ui://shop/slow',
    html: appPage({ body: 'Hello' }),
    permissions: ['camera', 'microphone'],
  });
  const server = createServer({
    name: 'shop',
    version: '1',
    tools: { slow: withApp(tool({ run: () => 'done' }), page) },
    extensions: [apps(page)],
  });
  const client = await testClient(server, { extensions: [appsClient] });
  onTestFinished(() => client.close());
  const [slow] = await client.tools().all();
  const remove = vi.fn();
  const { neighbour, receive, methods } = openWindow(() => undefined);
  const frame = { contentWindow: neighbour, style: {}, remove, setAttribute() {}, addEventListener() {} };
  vi.stubGlobal('location', { origin: 'https://host.example' });
  vi.stubGlobal('document', { createElement: () => frame });
  const container = { append() {} } as object as HTMLElement;
  const view = await showApp(client, { tool: slow as NonNullable<typeof slow>, container, ...options });
  return { view, frame: frame as { readonly allow?: string }, receive, methods, remove };
}

test('An app gets the features of the browser that the host grants, if it asks for them', async () => {
  expect((await openHost({})).frame.allow).toBe('');
  expect((await openHost({ grant: ['camera', 'geolocation'] })).frame.allow).toBe('camera *');
});

test('A host waits `teardownMs` for the answer of an app that it closes, and then removes it', async () => {
  const { view, receive, methods, remove } = await openHost({ teardownMs: 500 });
  receive({ id: 1, method: 'ui/initialize', params: {} });
  receive({ method: 'ui/notifications/initialized' });
  await view.ready;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const closed = view.close();
  expect(methods()).toContain('ui/resource-teardown');
  await vi.advanceTimersByTimeAsync(499);
  expect(remove).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(remove).toHaveBeenCalledOnce();
  await closed;
});
