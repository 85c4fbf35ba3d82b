// The entry `fullmcp/otel`: spans and metrics with OpenTelemetry.

export { type TelemetryOptions, telemetry } from './middleware/otel/telemetry.js';
export type { ClientMiddleware } from './protocol/telemetry/hosting.js';
export type { HostedMiddleware } from './state/hosted-middleware.js';
