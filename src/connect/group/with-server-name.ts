import { McpError, toMcpError } from '../../protocol/errors.js';

/** The error with the name of the server that it came from in front. */
export function withServerName(server: string, error: unknown): McpError {
  const { code, message, data, status, number } = toMcpError(error);
  return new McpError(code, `${server}: ${message}`, {
    data,
    status,
    cause: error,
    ...(number !== undefined && { number }),
  });
}
