import type { CommandSummary } from '../command/definition.js';

/** Commands for logins. */
export const auth: readonly CommandSummary[] = [
  {
    name: 'auth login',
    summary: 'log in to a server, and keep the tokens',
    load: async () => (await import('../commands/auth/login.js')).login,
  },
  {
    name: 'auth status',
    summary: 'show whether you are logged in, or all logins',
    load: async () => (await import('../commands/auth/status.js')).status,
  },
  {
    name: 'auth logout',
    summary: 'delete and revoke the tokens of a server',
    load: async () => (await import('../commands/auth/logout.js')).logout,
  },
  {
    name: 'auth cimd create',
    summary: 'write the metadata document of a client',
    load: async () => (await import('../commands/auth/cimd-create.js')).cimdCreate,
  },
  {
    name: 'auth cimd validate',
    summary: 'check the metadata document of a client',
    load: async () => (await import('../commands/auth/cimd-validate.js')).cimdValidate,
  },
];
