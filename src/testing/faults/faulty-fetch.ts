// A `fetch` with faults.

import { unlessAborted } from '../../async/abort.js';
import { delay } from '../../async/delay.js';
import { type Fate, type FaultPlan, type Faults, garbled, startFaults, truncated } from './faults.js';
import { faultyEvents } from './faulty-events.js';
import { bodyOf, networkError, withBody } from './network.js';

/** The type of the global `fetch`. */
type Fetch = typeof globalThis.fetch;

/**
 * Wraps a `fetch` so that things go wrong as the plan says. Each request, each answer and each event of a stream is a message.
 * A lost message rejects with a `TypeError`, as on a network, or never arrives until the request is aborted.
 */
export function faultyFetch(inner: Fetch, plan: FaultPlan | Faults): Fetch {
  const faults = startFaults(plan);
  return async function faultyFetch(input, init) {
    const request = new Request(input, init);
    const { method, headers, redirect } = request;
    // On Node, a request's own signal stops following the original when the request is garbage-collected.
    const signal = init?.signal ?? request.signal;
    const body = request.body === null ? undefined : await request.text();
    const send = (text = body): Promise<Response> =>
      inner(request.url, {
        ...init,
        ...{ method, headers, redirect, signal },
        ...(text !== undefined && { body: text }),
      });
    const response = await disturbed(send, { body, fate: faults.next('sent'), faults, signal });
    return response.body === null ? response : withFaults(response, response.body, { faults, signal });
  };
}

interface Circumstances {
  readonly faults: Faults;
  readonly signal: AbortSignal;
}

async function disturbed(
  send: (text?: string) => Promise<Response>,
  {
    body = '',
    fate,
    faults,
    signal,
  }: Circumstances & { readonly body: string | undefined; readonly fate: Fate },
): Promise<Response> {
  const { fault, delayMs, random } = fate;
  signal.throwIfAborted();
  if (delayMs > 0) await delay(delayMs, { signal });
  switch (fault) {
    case 'drop':
      return lost(random, { faults, signal });
    case 'stall':
      await unlessAborted(faults.calmed, signal);
      return send();
    case 'close':
      // The request has arrived, but its reply is lost.
      await discard(send());
      throw networkError();
    case 'duplicate': {
      const first = send();
      void discard(send()).catch(() => undefined);
      return first;
    }
    case 'truncate':
      return body === '' ? send() : send(truncated(body, random));
    case 'garble':
      return body === '' ? send() : send(garbled(body, random));
    default:
      fault satisfies undefined;
      return send();
  }
}

async function withFaults(
  response: Response,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { faults, signal }: Circumstances,
): Promise<Response> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return withBody(response, faultyEvents(body, faults, signal));
  }
  const { fault, delayMs, random } = faults.next('received');
  signal.throwIfAborted();
  if (delayMs > 0) await delay(delayMs, { signal });
  if (fault === 'drop') {
    void body.cancel().catch(() => undefined);
    return lost(random, { faults, signal });
  }
  // A reply cannot arrive twice: its duplicate is the reply itself.
  if (fault === undefined || fault === 'duplicate') return response;
  const text = await response.text();
  return withBody(
    response,
    bodyOf(async function* faultyBody(ended) {
      if (fault === 'garble') return yield garbled(text, random);
      const kept = truncated(text, random);
      yield kept;
      if (fault === 'stall') {
        await unlessAborted(faults.calmed, ended);
        yield text.slice(kept.length);
      } else if (fault === 'close' || random() < 0.5) throw networkError();
    }, signal),
  );
}

// Some networks report a lost message; others stay silent until the client gives up.
async function lost(random: () => number, { faults, signal }: Circumstances): Promise<never> {
  if (random() < 0.5) await unlessAborted(faults.calmed, signal);
  throw networkError();
}

async function discard(sent: Promise<Response>): Promise<void> {
  await (await sent).body?.cancel().catch(() => undefined);
}
