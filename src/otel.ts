// The entry `fullmcp/otel`: spans and metrics with OpenTelemetry.

export { type TelemetryOptions, telemetry } from './middleware/otel/telemetry.js';
