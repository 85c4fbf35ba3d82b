// Digests of questions, which show whether a question has changed since it was answered.

import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { sha256 } from '../../protocol/encoding/sha256.js';
import type { InputRequest } from '../../protocol/model/input.js';
import { canonical } from '../../state/canonical.js';
import type { Question } from './question.js';

const BYTES = 8;
/** A digest over a subject that a client may choose needs more. */
const SUBJECT_BYTES = 32;
const encoder = new TextEncoder();

/**
 * Digests everything that a client is shown: message, link, form and settings. An answer counts only for the question that was
 * shown. The run's secret id is part of the digest, so that nobody can prepare two questions with the same digest.
 */
export function questionDigest(
  run: string,
  request: InputRequest,
  { subject }: Pick<Question<unknown>, 'subject'> = {},
): string {
  const text = `${run} ${canonical(subject === undefined ? request : [request, subject])}`;
  return encodeBase64Url(
    sha256(encoder.encode(text)).subarray(0, subject === undefined ? BYTES : SUBJECT_BYTES),
  );
}
