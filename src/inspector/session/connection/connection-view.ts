// A connection as the page sees it.

import type { JsonObject } from '../../../jsonrpc/message.js';
import { revisions } from '../../../protocol/tables/revisions.js';
import { TASKS } from '../../../protocol/tasks.js';
import type { ConnectionView } from '../../contract/connection.js';
import type { ConnectionState } from './connection-state.js';
import { targetHeaders } from './target-headers.js';

/** The capabilities that the inspector declares. */
const CLIENT_CAPABILITIES: JsonObject = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
  extensions: { [TASKS]: {} },
};

export function printConnection(connection: ConnectionState): ConnectionView {
  const { init, client, failure, suggestion, roundTripMs, requestedRevision, logLevel, exit } = connection;
  const { opened, spec, isFixed, seesJournal } = init;
  const headerNames = targetHeaders(opened, spec).flatMap(([name]) =>
    name === 'authorization' ? [] : [name],
  );
  const info = client?.info();
  const server = info?.server;
  return {
    id: connection.id,
    address: opened.address,
    typed: opened.typed,
    name: server?.info?.title ?? server?.info?.name ?? opened.address,
    status: connection.status,
    steps: connection.log.steps,
    ...(failure && { failure }),
    ...(suggestion !== undefined && { suggestion }),
    revisions,
    ...(requestedRevision && { requestedRevision }),
    ...(roundTripMs !== undefined && { roundTripMs }),
    ...(info && {
      transport: info.transport,
      revision: info.revision,
      connectedAt: Date.parse(info.connectedAt),
    }),
    reconnects: info?.reconnects ?? 0,
    ...(headerNames.length > 0 && { headerNames: [...new Set(headerNames)] }),
    ...(server && { server: printServer(server) }),
    clientCapabilities: CLIENT_CAPABILITIES,
    catalogVersion: connection.catalog.version,
    seesJournal,
    roots: connection.roots,
    subscriptions: connection.subscriptions.views,
    follows: connection.events.views,
    receiving: connection.webhooks.views,
    auth: connection.authorization.view(),
    ...(logLevel && { logLevel }),
    ...(exit !== undefined && { process: { exit } }),
    isFixed,
    knownTasks: connection.tasks.all,
  };
}

type ServerFacts = ReturnType<NonNullable<ConnectionState['client']>['info']>['server'];

function printServer({
  info,
  capabilities,
  instructions,
}: ServerFacts): NonNullable<ConnectionView['server']> {
  return {
    ...(info?.name !== undefined && { name: info.name }),
    ...(info?.title !== undefined && { title: info.title }),
    ...(info?.version !== undefined && { version: info.version }),
    capabilities: capabilities as JsonObject,
    ...(instructions !== undefined && { instructions }),
  };
}
