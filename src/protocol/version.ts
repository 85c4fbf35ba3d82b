/** The version of this package. `package.json` has the same, which a test holds together. */
export const VERSION = '1.0.0-rc.1';

/** The `User-Agent` of requests over HTTP. */
export const USER_AGENT: string = `fullmcp/${VERSION}`;
