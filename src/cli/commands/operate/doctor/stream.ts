// Event streams: whether something between holds events back until it has many of them, as proxies do that buffer replies.

import type { Endpoint } from './endpoint.js';
import { type Examination, type ExaminedReply, isEventStream, send } from './exchange.js';
import { failed, ok, type StepFinding, skipped, warning } from './finding.js';
import { askModern } from './messages.js';

const HELD_BACK_MS = 3000;
const FIX =
  'Turn buffering of text/event-stream off in every proxy: proxy_buffering off in nginx, flush_interval -1 in Caddy, and no compression.';

/** Opens a stream whose beginning must arrive at once, and looks at whether it does. */
export async function examineStream(at: Examination, endpoint: Endpoint): Promise<StepFinding> {
  if (endpoint.era === undefined || endpoint.era === 'http+sse')
    return endpoint.era === undefined
      ? skipped('stream', 'There is no stream before the server accepts requests.')
      : ok('stream', 'The stream began at once.');
  const timeoutMs = Math.min(HELD_BACK_MS, at.timeoutMs);
  try {
    const reply =
      endpoint.era === 'modern' ? await listen(at, timeoutMs) : await getStream(at, endpoint, timeoutMs);
    return judge(reply, { needsEvent: endpoint.era === 'modern', timeoutMs });
  } catch {
    at.signal.throwIfAborted();
    return heldBack(timeoutMs);
  }
}

// Spec 2026-07-28, subscriptions/listen: the first event, which confirms the subscription, is sent at once.
async function listen(at: Examination, timeoutMs: number): Promise<ExaminedReply> {
  const params = { notifications: { toolsListChanged: true } };
  const { reply } = await askModern(at, 'subscriptions/listen', params, {
    timeoutMs,
    headers: { 'accept-encoding': 'gzip' },
    isEnough: () => true,
  });
  return reply;
}

function getStream(at: Examination, { reply, answer }: Endpoint, timeoutMs: number): Promise<ExaminedReply> {
  const session = reply.header('mcp-session-id');
  const version = answer.kind === 'result' ? String(answer.result['protocolVersion']).slice(0, 40) : '';
  const headers = {
    ...at.headers,
    accept: 'text/event-stream',
    'accept-encoding': 'gzip',
    'mcp-protocol-version': version.replaceAll(/[^\w.-]/g, ''),
    ...(session !== undefined && { 'mcp-session-id': session }),
  };
  // Its headers are there at once; the first event may take any time.
  return send(at, { method: 'GET', headers, timeoutMs, headersOnly: true });
}

function judge(
  reply: ExaminedReply,
  { needsEvent, timeoutMs }: { readonly needsEvent: boolean; readonly timeoutMs: number },
): StepFinding {
  if (!isEventStream(reply.header('content-type')))
    return skipped('stream', `It has no stream outside of calls (${reply.status}).`);
  const encoding = reply.header('content-encoding') ?? 'identity';
  if (encoding !== 'identity')
    return warning(
      'stream',
      `The stream is compressed (${encoding.slice(0, 40)}), which can hold events back.`,
      FIX,
    );
  if (needsEvent && reply.firstEventMs === undefined) return heldBack(timeoutMs);
  const beganMs = reply.firstEventMs ?? reply.headersMs;
  return ok('stream', `It begins after ${beganMs.toFixed(0)} ms: nothing between holds it back.`);
}

function heldBack(timeoutMs: number): StepFinding {
  return failed(
    'stream',
    `The beginning of an event stream does not arrive within ${timeoutMs} ms, although the server answers other requests: a proxy buffers it.`,
    FIX,
  );
}
