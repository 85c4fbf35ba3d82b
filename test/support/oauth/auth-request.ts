import type { AuthRequest } from 'fullmcp/auth';

/** A request with these headers, for the unit tests of providers. */
export function requestWith(
  headers: Readonly<Record<string, string>>,
  more: Partial<AuthRequest> = {},
): AuthRequest {
  return {
    method: 'POST',
    url: 'https://mcp.example.com/mcp',
    header: (name) => headers[name],
    remoteAddress: undefined,
    ...more,
  };
}
