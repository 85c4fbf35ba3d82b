// A `fetch` with faults.

import { unlessAborted } from '../../async/abort.js';
import { delay } from '../../async/delay.js';
import { type Fate, type FaultPlan, type Faults, garble, startFaults, truncate } from './faults.js';
import { faultyEvents } from './faulty-events.js';
import { bodyOf, networkError, withBody } from './network.js';

type Fetch = typeof globalThis.fetch;

/**
 * Wraps a `fetch` in the faults of a plan. Each request, each reply and each event of a stream is a message. If a request or its
 * reply is lost, the `fetch` rejects with a `TypeError`, as on a network: at once, or only when `stop` is called.
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
    const response = await sendWithFaults(send, { body, fate: faults.next('sent'), faults, signal });
    return response.body === null ? response : receiveWithFaults(response, response.body, { faults, signal });
  };
}

interface FaultContext {
  readonly faults: Faults;
  readonly signal: AbortSignal;
}

async function sendWithFaults(
  send: (text?: string) => Promise<Response>,
  {
    body = '',
    fate,
    faults,
    signal,
  }: FaultContext & { readonly body: string | undefined; readonly fate: Fate },
): Promise<Response> {
  const { fault, delayMs, random } = fate;
  signal.throwIfAborted();
  if (delayMs > 0) await delay(delayMs, { signal });
  switch (fault) {
    case 'drop':
      return loseMessage(random, { faults, signal });
    case 'stall':
      await unlessAborted(faults.stopped, signal);
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
      return body === '' ? send() : send(truncate(body, random));
    case 'garble':
      return body === '' ? send() : send(garble(body, random));
    default:
      fault satisfies undefined;
      return send();
  }
}

async function receiveWithFaults(
  response: Response,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { faults, signal }: FaultContext,
): Promise<Response> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return withBody(response, faultyEvents(body, faults, signal));
  }
  const { fault, delayMs, random } = faults.next('received');
  signal.throwIfAborted();
  if (delayMs > 0) await delay(delayMs, { signal });
  if (fault === 'drop') {
    void body.cancel().catch(() => undefined);
    return loseMessage(random, { faults, signal });
  }
  // A reply cannot arrive twice: its duplicate is the reply itself.
  if (fault === undefined || fault === 'duplicate') return response;
  const text = await response.text();
  return withBody(
    response,
    bodyOf(async function* faultyBody(bodySignal) {
      if (fault === 'garble') return yield garble(text, random);
      const head = truncate(text, random);
      yield head;
      if (fault === 'stall') {
        await unlessAborted(faults.stopped, bodySignal);
        yield text.slice(head.length);
      } else if (fault === 'close' || random() < 0.5) throw networkError();
    }, signal),
  );
}

// Some networks report a lost message; others stay silent until the client gives up.
async function loseMessage(random: () => number, { faults, signal }: FaultContext): Promise<never> {
  if (random() < 0.5) await unlessAborted(faults.stopped, signal);
  throw networkError();
}

async function discard(reply: Promise<Response>): Promise<void> {
  await (await reply).body?.cancel().catch(() => undefined);
}
