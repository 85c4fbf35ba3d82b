// The answers of clients, and the check that each has reached its question.

import type { ConsultArgs } from '../cluster/tools.js';
import type { Client } from './client.js';

const MESSAGE = /^Continue with (.*) ((\d+)(?:\.\d+)?)\?$/;

/** The part of a consultation that ends with this question. */
export function partOf(message: string): number {
  return Number(MESSAGE.exec(message)?.[3]);
}

/** The answer to a question, seldom a wrong one. */
export function answerTo({ world }: Client, message: string): Record<string, unknown> {
  // The code is the question's own text, so that an answer to another question is noticed.
  const [, id, question] = MESSAGE.exec(message) ?? [];
  const content = world.random.chance(0.05) ? { wrong: true } : { code: `${id} ${question}` };
  return { action: 'accept', content };
}

interface ConsultResult {
  readonly id: string;
  readonly subject: string;
  readonly codes: readonly string[];
  readonly nonces: readonly string[];
}

/** Checks the result of a consultation. */
export function checkConsultation(client: Client, args: ConsultArgs, result: Record<string, unknown>): void {
  const { ledger, subject = '' } = client;
  const { id, parts, questions } = args;
  const value = result['structuredContent'] as ConsultResult | undefined;
  if (value === undefined || result['isError'] === true)
    return ledger.violate('call failed', `${id} returned ${JSON.stringify(result)}`);
  const codes = Array.from({ length: parts - 1 }, (_, part) =>
    Array.from({ length: questions }, (__, n) => `${id} ${part + 1}.${n}`),
  ).flat();
  if (value.id !== id || JSON.stringify(value.codes) !== JSON.stringify(codes))
    ledger.violate('answers mixed up', `${id} got ${JSON.stringify(value)}`);
  if (value.subject !== subject)
    ledger.violate('served to another caller', `${id} of ${subject} ran as ${value.subject}`);
  for (const [at, nonce] of value.nonces.entries())
    if (!ledger.calls.hasRun(id, at + 1, nonce))
      ledger.violate('step of a call ran again', `${id} returned ${nonce}, which no step ${at + 1} returned`);
}
