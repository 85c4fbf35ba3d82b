import type { Peer } from '../../protocol/call.js';
import type { ClientCapabilities, Implementation } from '../../protocol/model/model.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import { missingCapability } from '../asking/question.js';

/** The client as it describes itself. The server does not verify any of it. */
export interface ClientFacts {
  /** The client's name and version; undefined if the client did not send them. */
  readonly info: Implementation | undefined;
  /** The capabilities that the client declared. */
  readonly capabilities: ClientCapabilities;
  /** The protocol revision that the client uses. */
  readonly revision: Revision;
  /** Ends the call with the error `missing_capability` unless the client declared the capability. */
  readonly require: (capability: keyof ClientCapabilities) => void;
}

/** Makes the facts about the client of a call. */
export function clientFacts({ client, capabilities, revision }: Peer): ClientFacts {
  return {
    info: client,
    capabilities,
    revision,
    require(capability) {
      if (capabilities[capability] === undefined) throw missingCapability({ [capability]: {} });
    },
  };
}
