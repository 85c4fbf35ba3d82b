import { digestText } from '../tokens/random.js';

const MAX_COOKIE_HEADER = 32 * 1024;

/** The cookies of the proxy in a browser. */
export interface Cookies {
  /** Reads a cookie of a request; undefined if there is none. */
  readonly read: (request: Request, name: string) => string | undefined;
  /** Prints a cookie. */
  readonly print: (name: string, value: string, maxAgeS: number) => string;
}

/**
 * The cookies of an issuer. With https their names begin with `__Host-`, so that no other host, not even a subdomain, can set them.
 * The names differ between the issuers of one host.
 */
export async function createCookies(issuer: string): Promise<Cookies> {
  const isSecure = issuer.startsWith('https:');
  const owner = (await digestText(issuer)).replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 8);
  const nameOf = (name: string): string => `${isSecure ? '__Host-' : ''}mcp-${name}-${owner}`;
  return {
    read(request, name) {
      const header = request.headers.get('cookie') ?? '';
      if (header.length > MAX_COOKIE_HEADER) return undefined;
      const start = `${nameOf(name)}=`;
      const found = header
        .split(';')
        .map((one) => one.trim())
        .filter((one) => one.startsWith(start));
      // Two cookies of one name mean that someone else has set one of them.
      return found.length === 1 ? found[0]?.slice(start.length) : undefined;
    },
    print: (name, value, maxAgeS) =>
      `${nameOf(name)}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
  };
}
