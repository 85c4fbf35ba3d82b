// The policy of the page: it runs its own files only, and talks to nobody but the inspector.

/** The value of `content-security-policy`. Apps are shown by pages of the sandbox's origin. */
export function pagePolicy(styleHash: string, sandboxOrigin: string | undefined): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' '${styleHash}'`,
    "img-src 'self' data: blob:",
    'media-src data: blob:',
    "connect-src 'self'",
    `frame-src ${sandboxOrigin ?? "'none'"}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}
