import { inProcess, type JsonObject } from 'fullmcp';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { makeDesk } from '../../../flows/events/desk.js';

afterEach(() => {
  vi.useRealTimers();
});

describe('A quiet stream of events', () => {
  test('has a heartbeat at least every 15 s, with the cursor after its last event', async () => {
    const server = makeDesk();
    // The code of the extension is loaded before the clock stops.
    await inProcess(server)('events/poll', { name: 'ticket_changed' });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'Date'] });
    const heard: { at: number; method: string; params: JsonObject | undefined }[] = [];
    const stop = new AbortController();
    const ended = inProcess(server)(
      'events/stream',
      { name: 'pushed' },
      {
        signal: stop.signal,
        onNotification: (method, params) => heard.push({ at: performance.now(), method, params }),
      },
    ).catch(() => undefined);
    await vi.waitFor(() => expect(heard.length).toBe(1));
    await vi.advanceTimersByTimeAsync(60_000);
    await server.emit('pushed', { id: 'a' });
    await vi.waitFor(() => expect(heard.at(-1)?.method).toBe('notifications/events/event'));
    const cursor = heard.at(-1)?.params?.['cursor'];
    await vi.advanceTimersByTimeAsync(30_000);
    stop.abort();
    await ended;
    const gaps = heard.slice(1).map(({ at }, index) => at - (heard[index]?.at ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(15_000);
    expect(
      heard.filter(({ method }) => method === 'notifications/events/heartbeat').length,
    ).toBeGreaterThanOrEqual(6);
    expect(heard.at(-1)).toMatchObject({ method: 'notifications/events/heartbeat', params: { cursor } });
    const beats = heard.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(heard.length).toBe(beats);
    await server.close();
  });
});
