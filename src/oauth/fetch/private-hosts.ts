import { canonicalName } from './names.js';

// The hosts on private networks that an operator names.

/** The hosts that may have any address. */
export interface PrivateHosts {
  has(url: URL): boolean;
}

/**
 * Reads the option `privateHosts`: exact host names (`idp.corp.example`) for https on any port, or exact origins
 * (`http://keycloak:8080`), which allow http only if they say so. There are no wildcards.
 */
export function readPrivateHosts(entries: readonly string[] = []): PrivateHosts {
  const hosts = new Set<string>();
  const origins = new Set<string>();
  for (const entry of entries) {
    if (entry.includes('://')) origins.add(originOf(entry));
    else hosts.add(hostOf(entry));
  }
  return {
    has: (url) =>
      origins.has(url.origin) || (url.protocol === 'https:' && hosts.has(canonicalName(url.hostname))),
  };
}

function originOf(entry: string): string {
  const url = URL.canParse(entry) && !entry.includes('*') ? new URL(entry) : undefined;
  const isOrigin = url !== undefined && url.href.replace(/\/$/, '') === url.origin;
  if (!isOrigin || !/^https?:$/.test(url.protocol)) throw notAHost(entry);
  return url.origin;
}

function hostOf(entry: string): string {
  const url =
    URL.canParse(`https://${entry}`) && !entry.includes('*') ? new URL(`https://${entry}`) : undefined;
  if (url === undefined || url.href !== `https://${url.hostname}/`) throw notAHost(entry);
  return canonicalName(url.hostname);
}

function notAHost(entry: string): TypeError {
  // The entry may be a URL with a password.
  const at = entry.lastIndexOf('@');
  return new TypeError(
    `\`privateHosts\` contains ${JSON.stringify(at === -1 ? entry : `…${entry.slice(at)}`)}. Each entry must be one host name, such as "idp.corp.example" or "[fd00::1]", or one origin, such as "http://keycloak:8080", without a path and without wildcards.`,
  );
}
