import { type ApiKey, apiKey } from 'fullmcp/auth';
import { type Gateway, gateway } from 'fullmcp/gateway';
import { type ServeOptions, serve } from 'fullmcp/node';

// Many servers as one. docs/gateway.md shows this code.

/** The servers of a config file, served to the network. */
export async function served(config: string, keys: readonly ApiKey[], own: ServeOptions = {}) {
  // #region serve
  const hub = gateway(config, { name: 'our tools', watchMs: 1000 });
  const serving = await serve(hub, { ...own, auth: apiKey({ keys }) });
  // #endregion
  return { hub, serving };
}

/** Shows each caller only the servers of its teams. */
export function byTeam(config: string): Gateway {
  // #region allow
  return gateway(config, {
    allow({ server, kind, name }, caller) {
      const teams = caller?.claims['teams'];
      if (!Array.isArray(teams) || !teams.includes(server)) return false;
      return kind !== 'tool' || !name.startsWith('delete_') || caller?.scopes.includes('delete') === true;
    },
  });
  // #endregion
}

/** Holds back what was not there when somebody looked at it. */
export function pinned(config: string, lock: string, tell: (message: string) => void): Gateway {
  // #region pins
  const hub = gateway(config, {
    pins: {
      file: lock,
      onChange: ({ server, kind, name, change }) => tell(`${server}: the ${kind} ${name} was ${change}`),
    },
  });
  // #endregion
  return hub;
}

/** Shows models two tools in place of hundreds, and beside them the one that they need all the time. */
export function searched(config: string): Gateway {
  // #region search
  // Clients list search_tools, call_tool and web_search.
  const hub = gateway(config, { search: { always: ['web_search'] } });
  // #endregion
  return hub;
}
