// The things that clients cannot do: from their declarations, the table of hosts, and the knowledge of the operator.

import { BoundedMap } from '../../async/bounded-map.js';
import type { Call, Peer } from '../../protocol/call.js';
import { sessionRevisions } from '../../protocol/tables/features.js';
import { type HostBehaviour, hostOf } from '../../protocol/tables/hosts.js';
import { supportsTasks } from '../../protocol/tasks.js';
import type { FallbacksOptions, HostOverride } from '../../server/define/fallback-options.js';

/** A host as this server treats it. */
export interface KnownHost {
  readonly asks: HostBehaviour['asks']['is'];
  readonly tasks: boolean;
  /** The longest time that a call may wait. */
  readonly waitMs: number;
  /** A question that is cancelled or declined within this time was not shown to anybody. */
  readonly cancelsWithinMs: number;
}

/** The things that the server does for a client. */
export interface Needs {
  readonly host: KnownHost;
  /** Whether long calls end early. */
  readonly tasks: boolean;
  /** Whether questions cannot be asked. */
  readonly asking: boolean;
}

const MAX_HOSTS = 1000;
/** The time that a response may take on its way to the host. */
const ON_THE_WAY_MS = 10_000;

/** Finds out what clients need. */
export class ClientNeeds {
  readonly #options: FallbacksOptions;
  readonly #hosts = new BoundedMap<string, KnownHost>(MAX_HOSTS);

  constructor(options: FallbacksOptions) {
    this.#options = options;
  }

  of(call: Call): Needs {
    const { tasks, asking } = this.#options;
    const { peer } = call;
    const host = this.#hostOf(call);
    return {
      host,
      tasks: tasks !== undefined && !(host.tasks && supportsTasks(peer)),
      asking: asking !== undefined && !(asksIn(host, peer) && showsForms(peer)),
    };
  }

  #hostOf({ peer, http, via }: Call): KnownHost {
    const name = peer.client?.name ?? '';
    const userAgent = http?.header('user-agent') ?? '';
    const entryPoint = via?.entryPoint ?? '';
    const key = `${name.slice(0, 100)} ${userAgent.slice(0, 200)} ${entryPoint.slice(0, 100)}`;
    const known = this.#hosts.get(key);
    if (known !== undefined) return known;
    const { hosts = {} } = this.#options;
    const own = Object.hasOwn(hosts, name) ? hosts[name] : undefined;
    const host = knownHost(hostOf(peer.client, { userAgent, entryPoint }), own);
    this.#hosts.set(key, host);
    return host;
  }
}

function knownHost(row: HostBehaviour, own: HostOverride = {}): KnownHost {
  const { asks, tasks = row.tasks.is !== 'never', callMs = row.callMs.is } = own;
  return {
    asks: asks === undefined ? row.asks.is : asks ? 'as declared' : 'never',
    tasks,
    waitMs: Math.max(callMs - ON_THE_WAY_MS, callMs / 2),
    cancelsWithinMs: row.cancelsWithinMs?.is ?? 0,
  };
}

/** Whether a host shows the questions of its client's connection, if it declares that it does. */
function asksIn({ asks }: KnownHost, { revision }: Peer): boolean {
  return asks === 'as declared' || (asks === 'in sessions' && sessionRevisions.includes(revision));
}

/** Whether a client declares forms. An elicitation capability without a mode means forms. */
function showsForms({ capabilities: { elicitation } }: Peer): boolean {
  return elicitation !== undefined && (elicitation.url === undefined || elicitation.form !== undefined);
}
