import type { ComponentChildren, VNode } from 'preact';
import type { ConnectionView } from '../../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../../src/tooling/clean.js';
import { Badge } from '../../../parts/badge.js';
import { Button } from '../../../parts/controls/button.js';
import { CopyButton } from '../../../parts/controls/copy-button.js';
import { ErrorPanel } from '../../../parts/error-panel.js';
import { clock, duration } from '../../../parts/values/format.js';
import { run } from '../../../state/api.js';
import { useCommand } from '../../../state/command.js';
import { addressOf } from '../../../state/route.js';
import { isOver } from '../../../state/settled.js';
import { ownStories } from '../../../state/store.js';
import { LogLevel } from '../settings/log-level.js';

const TRANSPORTS: Readonly<Record<string, string>> = {
  http: 'Streamable HTTP',
  'http+sse': 'HTTP+SSE, of 2024',
  websocket: 'WebSocket',
  'in-process': 'none: the same process',
};

/** The facts of a connection, in two columns. */
export function Facts({ connection }: { readonly connection: ConnectionView }): VNode {
  const { id, server, roundTripMs, connectedAt, reconnects, process } = connection;
  const command = useCommand();
  const isReady = connection.status === 'ready';
  return (
    <>
      <dl class="server-facts">
        <Fact name="Address" isWide={true}>
          <span class="mono server-address">{cleanLine(connection.address, 300)}</span>
          <CopyButton text={connection.typed} label="Copy the address" />
        </Fact>
        <Fact name="Name" isWide={true}>
          <strong>{cleanLine(server?.title ?? server?.name ?? connection.name, 100)}</strong>
          {server?.title !== undefined && server.name !== undefined && server.title !== server.name && (
            <span class="mono muted">{cleanLine(server.name, 100)}</span>
          )}
          <span>{server?.version === undefined ? 'no version' : cleanLine(server.version, 60)}</span>
        </Fact>
        <Fact name="Revision">
          <RevisionFact connection={connection} />
        </Fact>
        <Fact name="Transport">{transportWords(connection.transport)}</Fact>
        <Fact name="Round trip">
          <span>{roundTripMs === undefined ? 'not measured' : duration(roundTripMs)}</span>
          <Button
            look="quiet"
            isDisabled={!isReady || command.isRunning.value}
            onClick={() => void command.start(() => run('ping', { connection: id }))}
          >
            Ping
          </Button>
        </Fact>
        <Fact name="State">
          <span>
            {connection.status}
            {connectedAt !== undefined && isReady && ` since ${clock(connectedAt).slice(0, 5)}`}
          </span>
          <Button
            look="quiet"
            icon="again"
            label={process?.exit === undefined ? 'Reconnect' : 'Start the process again'}
            isDisabled={command.isRunning.value || connection.status === 'connecting'}
            onClick={() => void command.start(() => run('reconnect', { connection: id }))}
          />
        </Fact>
        {process !== undefined && (
          <Fact name="Process">
            {process.exit === undefined ? (
              <span>{process.pid === undefined ? 'runs' : `${process.pid}, runs`}</span>
            ) : (
              <span class="server-exit">{cleanLine(process.exit, 200)}</span>
            )}
            <a href={addressOf('server', 'logs')}>stderr</a>
          </Fact>
        )}
        {reconnects > 0 && <Fact name="Reconnects">{reconnects}</Fact>}
        <Fact name="Open requests">
          <OpenRequests />
        </Fact>
        <Fact name="Log level">
          <LogLevel connection={connection} />
        </Fact>
        <Fact name="Journal">
          {connection.seesJournal ? 'questions and steps' : 'questions; steps are sealed'}
        </Fact>
      </dl>
      {command.failure.value !== undefined && <ErrorPanel failure={command.failure.value} />}
    </>
  );
}

function Fact({
  name,
  isWide = false,
  children,
}: {
  readonly name: string;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div class={isWide ? 'server-fact is-wide' : 'server-fact'}>
      <dt class="muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function transportWords(transport: string | undefined): string {
  if (transport === undefined) return 'not connected';
  return (
    (Object.hasOwn(TRANSPORTS, transport) ? TRANSPORTS[transport] : undefined) ?? cleanLine(transport, 60)
  );
}

function OpenRequests(): VNode {
  const open = ownStories.value.filter((story) => !isOver(story));
  if (open.length === 0) return <span>none</span>;
  return (
    <span class="server-open">
      {open.length > 4 && `${open.length}: `}
      {open.slice(-4).map((story) => (
        <a key={story.id} href={addressOf('call', String(story.id))}>
          {cleanLine(story.title, 40)}
        </a>
      ))}
    </span>
  );
}

/** The revision that is spoken, and why. Another one is chosen in the bar at the top. */
function RevisionFact({ connection }: { readonly connection: ConnectionView }): VNode {
  const { revision, requestedRevision, revisions } = connection;
  if (revision === undefined) return <span>not agreed yet</span>;
  const isNewest = revision === [...revisions].sort().at(-1);
  const why =
    requestedRevision !== undefined ? 'you asked for it' : isNewest ? 'the newest' : 'newest of both';
  return (
    <>
      <Badge>{revision}</Badge>
      <span class="muted">{why}</span>
    </>
  );
}
