// The state of a group, as JSON.

import type { ClientInfo, LastError } from '../../client/model/client.js';
import type { ServerState } from './member.js';
import type { Membership } from './members.js';

/** The state of a client of several servers, as JSON. */
export interface GroupInfo extends ClientInfo {
  /** The state of each server, by name. */
  readonly servers: Readonly<Record<string, MemberInfo>>;
}

/** The state of one server of a group, as JSON: all of a client's, while it is connected. */
export interface MemberInfo extends Partial<Omit<ClientInfo, 'status'>> {
  /** The state of the server. */
  readonly status: ServerState['status'];
}

/** The state of the group's own client with that of its members. The times are the latest of all. */
export function groupInfo(own: ClientInfo, { members }: Membership): GroupInfo {
  const servers = new Map(
    [...members].map(([name, { state, client, activity }]): [string, MemberInfo] => {
      const { status, server } = state;
      const info: MemberInfo = client?.info() ?? { status, ...(server && { server }) };
      return [name, { ...info, lastError: info.lastError ?? activity.lastError }];
    }),
  );
  let { lastActivityAt, lastError } = own;
  for (const member of servers.values()) {
    lastActivityAt = latest(lastActivityAt, member.lastActivityAt ?? '');
    if (isLater(member.lastError, lastError)) lastError = member.lastError;
  }
  return { ...own, lastActivityAt, lastError, servers: Object.fromEntries(servers) };
}

function latest(one: string, other: string): string {
  return other > one ? other : one;
}

function isLater(one: LastError | undefined, other: LastError | undefined): boolean {
  return one !== undefined && one.at > (other?.at ?? '');
}
