// The authorization of a REST API: that of the server, without the parts of the protocol.

import type { EndpointAuth } from '../../transports/http/server/gate.js';

/**
 * The authorization without metadata and pages: they are about the MCP endpoint, which has a URL of its own. Tokens for it are accepted
 * here, and the clients of a REST API are told where to get one.
 */
export function restAuth(auth: EndpointAuth): EndpointAuth {
  return {
    schemes: auth.schemes,
    scopes: auth.scopes,
    algorithms: auth.algorithms,
    metadataUrl: () => undefined,
    watch: () => undefined,
    starting: () => auth.starting(),
    authenticate: (incoming) => auth.authenticate(incoming),
    servePublic: () => undefined,
  };
}
