import process from 'node:process';
import { audit } from 'fullmcp/middleware';
import { auditFile } from 'fullmcp/node';
import { telemetry } from 'fullmcp/otel';

// The middleware that sees every call: metrics, and a log of who called what. Without AUDIT_PATH, as in tests, there is no log.

const { AUDIT_PATH: path, AUDIT_SECRET: secret } = process.env;
const log = path === undefined ? [] : [audit({ to: auditFile({ path, secret }) })];

export const watching = [telemetry(), ...log];
