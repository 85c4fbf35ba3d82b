// The entry `fullmcp/middleware`: parts that wrap the calls of servers, clients and single tools.

export type { AuditOptions } from './middleware/audit/audit.js';
export { audit } from './middleware/audit/audit.js';
export type { AuditChain, AuditChainOptions, AuditHead } from './middleware/audit/chain.js';
export { auditChain } from './middleware/audit/chain.js';
export type { AuditCaller, AuditEnd, AuditEntry, AuditFacts, AuditNote } from './middleware/audit/entry.js';
export type { AuditProblem, AuditReport, VerifyAuditOptions } from './middleware/audit/verify.js';
export { verifyAudit } from './middleware/audit/verify.js';
export type { AuditSink } from './middleware/audit/writer.js';
export type { CacheOptions } from './middleware/cache/cache.js';
export { cache } from './middleware/cache/cache.js';
export type { ConcurrencyOptions } from './middleware/concurrency.js';
export { concurrency } from './middleware/concurrency.js';
export type { ErrorsOptions, MappedError } from './middleware/errors.js';
export { errors } from './middleware/errors.js';
export type { CallGroup } from './middleware/facts/call-groups.js';
export type { RedactOptions } from './middleware/facts/redact.js';
export type { KnownDigestsOptions } from './middleware/known-digests.js';
export { knownDigests } from './middleware/known-digests.js';
export type { CallLog, LoggingOptions } from './middleware/logging.js';
export { logging } from './middleware/logging.js';
export type { OutputBudgetOptions } from './middleware/output-budget/output-budget.js';
export { outputBudget } from './middleware/output-budget/output-budget.js';
export type { Rate, RateParts } from './middleware/rate-limit/rate.js';
export type { RateLimitOptions } from './middleware/rate-limit/rate-limit.js';
export { rateLimit } from './middleware/rate-limit/rate-limit.js';
export type { CircuitBreakerOptions, CircuitState } from './middleware/resilience/circuit-breaker.js';
export { circuitBreaker } from './middleware/resilience/circuit-breaker.js';
export type { RepeatableToolNames } from './middleware/resilience/repeatable.js';
export type { ResilienceOptions, ResiliencePolicy } from './middleware/resilience/resilience.js';
export { resilience } from './middleware/resilience/resilience.js';
export type { RetryOptions } from './middleware/resilience/retry.js';
export { retry } from './middleware/resilience/retry.js';
export type { SizeLimitOptions } from './middleware/size-limit.js';
export { sizeLimit } from './middleware/size-limit.js';
export { timeout } from './middleware/timeout.js';
export type { TimedCall } from './middleware/timing.js';
export { timing } from './middleware/timing.js';
export type { Policy, PolicyEffect, PolicyTool, ToolUse } from './server/define/policy.js';
export type { PolicyOptions } from './server/policy/policy.js';
export { policy } from './server/policy/policy.js';
export type { PolicyCaller, PolicyInput, PolicyRule } from './server/policy/rules.js';
export type {
  HostedMiddleware,
  MiddlewareHost,
  MiddlewareLifetime,
  ServerChange,
  ServerResults,
} from './state/hosted-middleware.js';
