import type { Implementation } from '../../protocol/model/model.js';
import type { Revision } from '../../protocol/tables/revisions.js';

/** The state of one server of a gateway, as JSON. */
export interface GatewayServerInfo {
  /** `idle`: not needed yet, or not for a while. `failed`: tried again when it is next needed, after a delay of up to 15 s. */
  readonly status: 'idle' | 'ready' | 'failed' | 'closed';
  /** Whether the server answered when it was last asked; absent if it was not. */
  readonly isHealthy?: boolean;
  /** Whether calls are refused, because the last ones have failed. */
  readonly isOpenCircuit: boolean;
  /** The reason why the server failed. */
  readonly error?: string;
  /** The number of calls that are open now. */
  readonly openCalls: number;
  /** The server's name and version, when it was last connected. */
  readonly server?: Implementation;
  /** The revision that is spoken with the server. */
  readonly revision?: Revision;
}
