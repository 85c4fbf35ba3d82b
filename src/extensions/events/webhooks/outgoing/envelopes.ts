// The ids of messages that are not events.

import { encodeBase64Url } from '../../../../protocol/encoding/base64.js';
import type { WebhookEnvelope } from '../../../../protocol/events/wire.js';

/** Makes the header `webhook-id` of an envelope. It stays the same when the envelope is sent again. */
export function envelopeId(type: WebhookEnvelope['type']): string {
  return `msg_${type}_${encodeBase64Url(crypto.getRandomValues(new Uint8Array(12)))}`;
}
