// The host check: a server must accept its own name, and on this computer no other.

import { isLoopbackUrl } from '../../../../oauth/fetch/check-url.js';
import { parseChallenges } from '../../../../protocol/encoding/challenges.js';
import { shorten } from '../../../../protocol/encoding/shorten.js';
import type { Endpoint } from './endpoint.js';
import type { Examination } from './exchange.js';
import { failed, ok, type StepFinding, skipped, warning } from './finding.js';
import { type AnsweredProbe, askForSession, askModern, endSession } from './messages.js';

/** Examines whether the server accepts the host of the URL, and refuses others where that matters. */
export async function examineHost(at: Examination, endpoint: Endpoint): Promise<StepFinding> {
  if (endpoint.reply.status === 403) return examineRefusal(at, endpoint);
  if (!isLoopbackUrl(at.url)) return ok('host', `It accepts ${at.url.host}.`);
  const { reply, answer } = await asHost(at, `rebound.example${portOf(at.url)}`, endpoint);
  if (reply.status === 401) return ok('host', 'Requests for another host need a token too.');
  if (reply.status >= 400 && (reply.status === 403 || reply.status === 421 || answer.kind === 'none'))
    return ok('host', 'Requests for another host are refused.');
  if (answer.kind === 'none')
    return skipped('host', `Another host gets ${reply.status}, without a response.`);
  return warning(
    'host',
    'It answers requests for any host, so that a web page can reach it by DNS rebinding.',
    'Check the Host header: a fullmcp server does so by default, others have an option such as allowedHosts.',
  );
}

/** A 403 is about the host if a request for this computer gets another reply. */
async function examineRefusal(at: Examination, endpoint: Endpoint): Promise<StepFinding> {
  const { reply } = endpoint;
  const [challenge] = parseChallenges(reply.header('www-authenticate'));
  if (challenge?.parameters.get('error') === 'insufficient_scope')
    return skipped('host', 'The refusal is about the scopes of the token.');
  const { host } = at.url;
  const reason = reasonIn(endpoint);
  const local = await asHost(at, `localhost${portOf(at.url)}`, endpoint);
  if (local.reply.status !== 403)
    return failed(
      'host',
      `It refuses requests for the host ${host}${reason}`,
      `Add ${at.url.hostname} to the allowed hosts of the server: allowedHosts, publicUrl or MCP_ALLOWED_HOSTS of a fullmcp server.`,
    );
  return failed(
    'host',
    `It refuses the request with 403${reason}`,
    'Read the log of the server, and of firewalls and proxies in front of it. A token may be missing or may not permit this.',
  );
}

function reasonIn({ reply, answer }: Endpoint): string {
  const text = answer.kind === 'error' ? answer.error.message : reply.body;
  return text.trim() === '' ? '.' : `: ${shorten(text.trim(), 200)}`;
}

/** The same request for another host, without the headers of the user. */
async function asHost(at: Examination, host: string, { era }: Endpoint): Promise<AnsweredProbe> {
  const different = { headers: { host }, isAnonymous: true };
  if (era !== 'session') return askModern(at, 'server/discover', {}, different);
  const asked = await askForSession(at, different);
  await endSession(at, asked.reply);
  return asked;
}

function portOf({ port }: URL): string {
  return port === '' ? '' : `:${port}`;
}
