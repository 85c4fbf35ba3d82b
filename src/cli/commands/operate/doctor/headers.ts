// Headers: whether those of a request arrive, whether the server checks them, and whether those of its replies are right.

import { shorten } from '../../../../protocol/encoding/shorten.js';
import type { Endpoint } from './endpoint.js';
import { type Examination, mediaTypeOf } from './exchange.js';
import { failed, ok, type StepFinding, skipped, warning } from './finding.js';
import { askModern } from './messages.js';

const CONTENT_TYPES = ['application/json', 'text/event-stream'];
const MAX_SKEW_MS = 60_000;

/** Examines the headers of both directions. */
export async function examineHeaders(at: Examination, endpoint: Endpoint): Promise<StepFinding> {
  const { answer, reply, era } = endpoint;
  if (answer.kind === 'error' && answer.error.code === 'header_mismatch')
    return failed(
      'headers',
      `Headers do not arrive as they were sent. The server says: ${shorten(answer.error.message, 150)}.`,
      'Let the proxies in front of the server pass MCP-Protocol-Version, Mcp-Method and Mcp-Name on unchanged.',
    );
  if (era === undefined) return skipped('headers', 'Only a request that the server accepts shows them.');
  const type = mediaTypeOf(reply.header('content-type'));
  if (!CONTENT_TYPES.includes(type))
    return failed(
      'headers',
      `The content type of its response is ${shorten(type || 'missing', 60)}.`,
      `Send responses as ${CONTENT_TYPES.join(' or ')}.`,
    );
  const skew = skewOf(reply.header('date'));
  if (skew !== undefined)
    return warning(
      'headers',
      `The clocks of the server and of this computer differ by ${skew} s, so tokens can seem to have ended.`,
      'Set both clocks by NTP.',
    );
  return era === 'modern' ? examineChecks(at) : ok('headers', `Its response is ${type}.`);
}

function skewOf(date: string | undefined): number | undefined {
  const differs = Math.abs(Date.parse(date ?? '') - Date.now());
  return differs > MAX_SKEW_MS ? Math.round(differs / 1000) : undefined;
}

/** A proxy may decide by the headers, so a server must refuse those that say something else than the body. */
async function examineChecks(at: Examination): Promise<StepFinding> {
  const headers = { 'mcp-method': 'tools/list' };
  const { answer } = await askModern(at, 'server/discover', {}, { headers });
  return answer.kind === 'result'
    ? warning(
        'headers',
        'It accepts a request whose Mcp-Method is not the method of its body.',
        'Refuse it with 400 and the error -32020: proxies and firewalls rely on these headers.',
      )
    : ok('headers', 'They arrive, and the server refuses those that contradict the body.');
}
