// The protocol: connects as every other command does, and lists what there is.

import type { Client } from '../../../../client/model/client.js';
import type { HostName } from '../../../../tooling/lint/host-profiles.js';
import type { Typed } from '../../../command/definition.js';
import { withTarget } from '../../../target/open.js';
import { failed, ok, reasonOf, type StepFinding } from './finding.js';
import { examineToolsForHosts } from './host.js';

interface ProtocolParts {
  /** Whether the server is a process that is started for this. */
  readonly isStarted: boolean;
  readonly timeoutMs: number;
  /** The hosts whose rules for definitions are checked as well. */
  readonly hosts: readonly HostName[];
}

// The time for a process to start; npx may have to install it first.
const START_MS = 60_000;

/** Connects and lists the tools. */
export async function* examineProtocol(
  input: Typed,
  { isStarted, timeoutMs, hosts }: ProtocolParts,
): AsyncGenerator<StepFinding> {
  const findings: StepFinding[] = [];
  const connectTimeoutMs = isStarted ? Math.max(START_MS, timeoutMs) : timeoutMs;
  try {
    await withTarget(
      input,
      async ({ client }) => {
        const { info, revision } = client.server;
        const name = [info?.name ?? 'A server without a name', info?.version].filter(Boolean).join(' ');
        findings.push(ok('protocol', `${name} speaks MCP ${revision} over ${client.info().transport}.`));
        const tools = await examineTools(client, input.signal, timeoutMs);
        findings.push(tools);
        if (tools.status === 'ok') findings.push(...(await examineToolsForHosts(client, hosts)));
      },
      { timeoutMs, connectTimeoutMs },
    );
  } catch (error) {
    input.signal.throwIfAborted();
    findings.push(
      failed(
        'protocol',
        `A client cannot connect: ${reasonOf(error)}.`,
        isStarted
          ? 'Run the command by itself: it must not end, and must not write anything to stdout but messages.'
          : 'Read the log of the server, and of proxies in front of it.',
      ),
    );
  }
  yield* findings;
}

async function examineTools(client: Client, signal: AbortSignal, timeoutMs: number): Promise<StepFinding> {
  if (client.server.capabilities['tools'] === undefined) return ok('tools', 'It has none.');
  const end = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const start = performance.now();
  try {
    const tools = await client.tools({ signal: end }).all();
    return ok('tools', `It has ${tools.length}, listed in ${(performance.now() - start).toFixed(0)} ms.`);
  } catch (error) {
    signal.throwIfAborted();
    return failed(
      'tools',
      end.aborted
        ? `They are not listed within ${timeoutMs} ms.`
        : `They cannot be listed: ${reasonOf(error)}.`,
      'Read the log of the server. A list whose pages have no end is a mistake in its cursors.',
    );
  }
}
