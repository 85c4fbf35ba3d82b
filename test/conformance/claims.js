// @ts-check
// The scenarios of the official suite that fullmcp claims to pass.

/** @typedef {'server' | 'client'} Role */
/** @typedef {{ revisions: string[], scenarios: string[] }} Claim */

/** @type {Claim[]} */
const server = [
  {
    revisions: ['2025-06-18', '2025-11-25', '2026-07-28'],
    scenarios: [
      'completion-complete',
      'tools-list',
      'tools-call-simple-text',
      'tools-call-image',
      'tools-call-audio',
      'tools-call-embedded-resource',
      'tools-call-mixed-content',
      'tools-call-error',
      'tools-call-with-progress',
      'resources-list',
      'resources-read-text',
      'resources-read-binary',
      'resources-templates-read',
      'prompts-list',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
    ],
  },
  {
    revisions: ['2025-03-26', '2025-06-18', '2025-11-25'],
    scenarios: ['server-session-lifecycle'],
  },
  {
    revisions: ['2025-06-18', '2025-11-25'],
    scenarios: [
      'server-initialize',
      'logging-set-level',
      'ping',
      'tools-call-with-logging',
      'tools-call-sampling',
      'tools-call-elicitation',
      'resources-subscribe',
      'resources-unsubscribe',
    ],
  },
  {
    revisions: ['2025-11-25'],
    scenarios: ['server-sse-polling', 'elicitation-sep1034-defaults', 'elicitation-sep1330-enums'],
  },
  {
    revisions: ['2025-11-25', '2026-07-28'],
    scenarios: ['json-schema-2020-12', 'server-sse-multiple-streams', 'dns-rebinding-protection'],
  },
  {
    revisions: ['2026-07-28'],
    scenarios: [
      'server-stateless',
      'sep-2164-resource-not-found',
      'caching',
      'http-header-validation',
      'http-custom-header-server-validation',
      'input-required-result-basic-elicitation',
      'input-required-result-basic-sampling',
      'input-required-result-basic-list-roots',
      'input-required-result-request-state',
      'input-required-result-multiple-input-requests',
      'input-required-result-multi-round',
      'input-required-result-missing-input-response',
      'input-required-result-non-tool-request',
      'input-required-result-result-type',
      'input-required-result-unsupported-methods',
      'input-required-result-tampered-state',
      'input-required-result-capability-check',
      'input-required-result-ignore-extra-params',
      'input-required-result-validate-input',
      'tasks-lifecycle',
      'tasks-capability-negotiation',
      'tasks-wire-fields',
      'tasks-request-state-removal',
      'tasks-mrtr-input',
      'tasks-request-headers',
      'tasks-dispatch-and-envelope',
      'tasks-status-notifications',
      'tasks-required-task-error',
      'tasks-mrtr-composition',
      'sep-2640-skills-directory',
      'sep-2640-skills-enumeration',
      'sep-2640-skills-manifest',
    ],
  },
];

/** @type {Claim[]} */
const client = [
  {
    revisions: ['2025-06-18', '2025-11-25'],
    scenarios: ['initialize'],
  },
  {
    revisions: ['2025-06-18', '2025-11-25', '2026-07-28'],
    scenarios: ['tools_call'],
  },
  {
    revisions: ['2025-11-25'],
    scenarios: ['elicitation-sep1034-client-defaults', 'sse-retry'],
  },
  {
    revisions: ['2025-11-25', '2026-07-28'],
    scenarios: ['json-schema-2020-12-preservation'],
  },
  {
    revisions: ['2026-07-28'],
    scenarios: [
      'request-metadata',
      'sep-2322-client-request-state',
      'http-standard-headers',
      'http-custom-headers',
      'http-invalid-tool-headers',
      'json-schema-ref-no-deref',
      'sep-2640-client-no-prefetch',
      'sep-2640-client-verify-digest',
      'sep-2640-client-verify-size',
      'sep-2640-client-verify-frontmatter',
    ],
  },
  {
    revisions: ['2025-03-26'],
    scenarios: ['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback'],
  },
  {
    revisions: ['2025-06-18', '2025-11-25', '2026-07-28'],
    scenarios: [
      'auth/token-endpoint-auth-basic',
      'auth/token-endpoint-auth-post',
      'auth/token-endpoint-auth-none',
    ],
  },
  {
    revisions: ['2025-11-25', '2026-07-28'],
    scenarios: [
      'auth/metadata-default',
      'auth/metadata-var1',
      'auth/metadata-var2',
      'auth/metadata-var3',
      'auth/basic-cimd',
      'auth/scope-from-www-authenticate',
      'auth/scope-from-scopes-supported',
      'auth/scope-omitted-when-undefined',
      'auth/scope-step-up',
      'auth/scope-retry-limit',
      'auth/pre-registration',
      'auth/client-credentials-jwt',
      'auth/client-credentials-basic',
      'auth/enterprise-managed-authorization',
      'auth/dpop',
      'auth/dpop-nonce',
      'auth/wif-jwt-bearer',
    ],
  },
  {
    revisions: ['2026-07-28'],
    scenarios: [
      'auth/resource-mismatch',
      'auth/offline-access-scope',
      'auth/offline-access-not-supported',
      'auth/authorization-server-migration',
      'auth/iss-supported',
      'auth/iss-not-advertised',
      'auth/iss-supported-missing',
      'auth/iss-wrong-issuer',
      'auth/iss-unexpected',
      'auth/iss-normalized',
      'auth/metadata-issuer-mismatch',
    ],
  },
];

/** Scenarios that the suite always skips, whatever the server does. For these, only a skip passes. */
export const alwaysSkipped = ['tasks-status-notifications'];

/** Scenarios that measure time and run alone. */
export const alone = ['sse-retry'];

/**
 * The scenarios whose checks all pass.
 * @param {Role} role
 * @param {string} revision
 */
export function claimedFor(role, revision) {
  return { server, client }[role]
    .filter(({ revisions }) => revisions.includes(revision))
    .flatMap(({ scenarios }) => scenarios);
}
