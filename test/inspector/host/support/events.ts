import { request } from 'node:http';
import { createInterface } from 'node:readline';
import type { Visit } from './browser.js';

interface SentEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data?: unknown;
}

export interface EventsOfPage extends AsyncDisposable {
  /** The next event; undefined if the stream has ended. */
  readonly next: () => Promise<SentEvent | undefined>;
}

/** Reads server-sent events as a page does. */
export async function listenToEvents(
  { at, cookie }: Visit,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventsOfPage> {
  const req = request(at(path), { headers: { cookie, ...headers }, agent: false });
  const res = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    req.once('response', resolve).once('error', reject).end();
  });
  const lines = createInterface({ input: res })[Symbol.asyncIterator]();
  return {
    async next() {
      let event: { id?: string; event?: string; data?: unknown } = {};
      for (;;) {
        const { value, done } = await lines.next();
        if (done) return undefined;
        const [, field = '', text = ''] = /^([a-z]*): ?(.*)$/.exec(value) ?? [];
        if (field === 'id') event = { ...event, id: text };
        if (field === 'event') event = { ...event, event: text };
        if (field === 'data') event = { ...event, data: JSON.parse(text) };
        if (value === '' && event.data !== undefined) return event;
      }
    },
    async [Symbol.asyncDispose]() {
      req.destroy();
    },
  };
}
