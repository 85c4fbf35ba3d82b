// The era and the revisions that a server speaks, and whether it does as it says.

import { isObject } from '../../../../jsonrpc/message.js';
import { shorten } from '../../../../protocol/encoding/shorten.js';
import { modernRevisions, mutual } from '../../../../protocol/tables/features.js';
import { revisions } from '../../../../protocol/tables/revisions.js';
import type { Endpoint } from './endpoint.js';
import type { Examination } from './exchange.js';
import { failed, ok, type StepFinding, skipped, warning } from './finding.js';
import { askForSession, askModern, endSession, MODERN } from './messages.js';

/** Examines the revisions. */
export async function examineEra(at: Examination, { era, answer }: Endpoint): Promise<StepFinding> {
  switch (era) {
    case undefined:
      return skipped('revisions', 'They are not known before the server accepts requests.');
    case 'http+sse':
      return warning(
        'revisions',
        'It speaks HTTP+SSE, the oldest transport, which clients are giving up.',
        'Serve Streamable HTTP as well.',
      );
    case 'session':
      return sessionEra(answer.kind === 'result' ? answer.result['protocolVersion'] : undefined);
    case 'modern':
      return answer.kind === 'result'
        ? modernEra(at, answer.result)
        : skipped('revisions', `It speaks MCP ${MODERN}, but refused the request.`);
  }
}

function sessionEra(version: unknown): StepFinding {
  if (revisions.some((revision) => revision === version))
    return ok('revisions', `It speaks MCP ${String(version)}.`);
  return failed(
    'revisions',
    `It answers initialize with the protocol version ${shorten(version, 40)}, which does not exist.`,
    `protocolVersion must be one of ${revisions.join(', ')}.`,
  );
}

async function modernEra(at: Examination, result: Readonly<Record<string, unknown>>): Promise<StepFinding> {
  const { supportedVersions, capabilities } = result;
  if (mutual(modernRevisions, supportedVersions) === undefined || !isObject(capabilities))
    return failed(
      'revisions',
      `It answers server/discover, and names the versions ${shorten(supportedVersions, 100)} and the capabilities ${shorten(capabilities, 60)}.`,
      `supportedVersions must name ${modernRevisions.join(' or ')}, and capabilities must be an object.`,
    );
  const lie = await brokenPromise(at, capabilities);
  if (lie !== undefined)
    return failed(
      'revisions',
      `It says that it speaks MCP ${MODERN}, but refuses tools/list of that revision: ${lie}.`,
      'Name only revisions in supportedVersions that every method is served in.',
    );
  const sessions = await askForSession(at).catch(() => undefined);
  if (sessions) await endSession(at, sessions.reply);
  const older = sessions?.answer.kind === 'result' ? sessions.answer.result['protocolVersion'] : undefined;
  return older === undefined
    ? ok('revisions', `It speaks MCP ${MODERN} only: clients of older revisions cannot connect.`)
    : ok('revisions', `It speaks MCP ${MODERN}, and ${shorten(older, 40)} for older clients.`);
}

/** The reason why the server does not serve what it announces. */
async function brokenPromise(at: Examination, capabilities: object): Promise<string | undefined> {
  if (!('tools' in capabilities)) return undefined;
  const { answer, reply } = await askModern(at, 'tools/list', {});
  if (answer.kind === 'result') return Array.isArray(answer.result['tools']) ? undefined : 'no list of tools';
  // A login may be needed for lists alone.
  if (reply.status === 401 || reply.status === 403) return undefined;
  return answer.kind === 'error' ? shorten(answer.error.message, 100) : `${reply.status} without a response`;
}
