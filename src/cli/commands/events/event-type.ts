// The type of events that a command names.

import type { Client, ListedEvent } from '../../../client/model/client.js';
import { eventSettingsOf } from '../../../protocol/events/dialects.js';
import { closestName } from '../../../schema/explain/closest-name.js';
import { type CommandError, usageError } from '../../command/failures.js';

/** The types of events of a server. Fails if the server declares no events. */
export async function eventTypes(client: Client): Promise<readonly ListedEvent[]> {
  if (hasEvents(client)) return client.events().all();
  throw usageError('The server declares no events. `fullmcp list` shows what it offers.');
}

/** Whether a server declares events. */
export function hasEvents({ server }: Client): boolean {
  return eventSettingsOf(server.capabilities) !== undefined;
}

/** The type with a name. A near name is a hint in the error. */
export function typeNamed(types: readonly ListedEvent[], name: string | undefined): ListedEvent {
  const found = types.find((type) => type.name === name);
  if (found !== undefined) return found;
  throw name === undefined ? missingType() : unknownType(types, name);
}

function missingType(): CommandError {
  return usageError('The type of the events is missing. `fullmcp events list` shows the types of a server.');
}

function unknownType(types: readonly ListedEvent[], name: string): CommandError {
  const close = closestName(
    name,
    types.map((type) => type.name),
  );
  const hint =
    close !== undefined
      ? ` Did you mean ${JSON.stringify(close)}?`
      : types.length === 0
        ? ' The server lists none for this caller.'
        : '';
  return usageError(
    `No type of events is called ${JSON.stringify(name)}.${hint}`,
    close === undefined ? {} : { close },
  );
}
