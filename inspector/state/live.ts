// Keeps the page in step with its process: a snapshot, then events; a new snapshot if events were missed.

import type { InspectorEvent } from '../../src/inspector/contract/inspector.js';
import { fetchSnapshot } from './api.js';
import { latestSeq, live, takeEvents, takeSnapshot } from './store.js';

const RETRY_MS = 1000;
/** Events of this time are shown together: more often, nobody could read them. */
const FRAME_MS = 50;

export async function goLive(): Promise<void> {
  try {
    takeSnapshot(await fetchSnapshot());
  } catch {
    live.value = 'lost';
    setTimeout(() => void goLive(), RETRY_MS);
    return;
  }
  const source = new EventSource(`api/events?after=${latestSeq()}`);
  let waiting: InspectorEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  function flush(): void {
    timer = undefined;
    const events = waiting;
    waiting = [];
    takeEvents(events);
  }
  source.onopen = () => {
    live.value = 'live';
  };
  source.onmessage = ({ data }: MessageEvent<string>) => {
    waiting.push(JSON.parse(data) as InspectorEvent);
    timer ??= setTimeout(flush, FRAME_MS);
  };
  // The process says that events were missed, or it is gone: either way, begin again.
  const again = (): void => {
    source.close();
    clearTimeout(timer);
    live.value = 'lost';
    setTimeout(() => void goLive(), RETRY_MS);
  };
  source.addEventListener('reset', again);
  source.onerror = again;
}
