import type { ServeOptions } from '../server/options.js';
import { type Environment, environmentOptions, secretsOf } from './environment.js';

// All options of `serve`: those of the program, then of the environment, then of the config file.

/** The options from outside of the program. They are plain JSON, so that the primary process can send them to its workers. */
export interface OuterOptions {
  /** The config file that they come from. */
  readonly config?: string | undefined;
  readonly options: ServeOptions;
}

/** The options from outside of the program that it does not set, and what the operator should know. */
export async function outerOptions(
  given: ServeOptions,
  env: Environment,
): Promise<OuterOptions & { readonly warnings: readonly string[] }> {
  const config = configOf(given, env);
  // Of a source with a secret, both forms count.
  const hasSecret = given.secret !== undefined || given.secretFile !== undefined;
  const taken = hasSecret ? { ...given, secret: given.secret ?? '', secretFile: '-' } : given;
  const { secretFile, ...environment } = environmentOptions(env, taken);
  const secret = secretsOf({ secret: environment.secret, secretFile }, 'MCP_SECRET and MCP_SECRET_FILE');
  const file =
    config === undefined
      ? { options: {}, warnings: [] }
      : (await import('./config-file.js')).readServerConfig(config, env);
  const options = { ...file.options, ...environment, ...(secret !== undefined && { secret }) };
  return { config, options, warnings: file.warnings };
}

/** The config file of the program or of the environment. */
export function configOf({ config }: ServeOptions, env: Environment): string | undefined {
  return config ?? (env['MCP_CONFIG'] || undefined);
}

/** The options of the program, and those from outside that it does not set. */
export function withOuter(given: ServeOptions, { options }: OuterOptions): ServeOptions {
  const own = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  if (given.secretFile === undefined) return { ...options, ...own };
  const secret = secretsOf(given, 'serve: "secret" and "secretFile"') as readonly string[];
  return { ...options, ...own, secret };
}
