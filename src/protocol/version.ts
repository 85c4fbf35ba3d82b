/** The version of this package. `package.json` has the same, which a test holds together. */
export const VERSION = '0.2.0';

/** The `User-Agent` of requests over HTTP. */
export const USER_AGENT: string = `fullmcp/${VERSION}`;
