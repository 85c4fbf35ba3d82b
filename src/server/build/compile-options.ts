// The first phase of a server: reads its options and compiles its definitions. Nothing is opened yet.

import type { JsonObject } from '../../jsonrpc/message.js';
import { withPrint } from '../../protocol/call.js';
import { SERVER_INFO } from '../../protocol/meta.js';
import type { Implementation } from '../../protocol/model/model.js';
import { OperatorLog } from '../../protocol/telemetry/operator-log.js';
import { readServerAccess } from '../access/access.js';
import {
  type CompiledDefinitions,
  compileDefinitions,
  type Defaults,
  DefinitionError,
} from '../catalog/compile.js';
import { type ServerSettings, withServerDefaults } from '../define/definition-tables.js';
import type { ServerExtension } from '../define/extension.js';
import type { AnyServerOptions } from '../define/options.js';
import { mountedRules } from '../mount/mounts.js';
import { mapErrors } from '../results/map-error.js';
import { type Complete, completeAs } from '../results/results.js';
import { toolOutcomes } from '../results/tool-outcomes.js';
import { type Behaviour, readCompatibility } from '../state/behaviours.js';
import type { Logger } from '../state/log.js';

/** The options of a server, and everything that follows from them alone. */
export interface CompiledOptions {
  /** The options with the parts of the extensions and the defaults. */
  readonly options: ServerSettings;
  readonly extensions: readonly ServerExtension[];
  readonly info: Implementation;
  /** The log on standard error. */
  readonly ownLog: OperatorLog;
  /** Writes to the `logger` of the options, or to `ownLog`. */
  readonly log: Logger;
  readonly complete: Complete;
  /** The changed defaults that hold for the server. */
  readonly on: ReadonlySet<Behaviour>;
  /** The settings for definitions without their own. */
  readonly defaults: Defaults;
  readonly compiled: CompiledDefinitions;
}

/** Reads the options of a server. Throws a `DefinitionError` with all mistakes in the definitions. */
export function compileOptions(given: AnyServerOptions): CompiledOptions {
  const { options, extensions } = withExtensions(given);
  const { name, logger, timeoutMs, idempotency, use = [] } = options;
  // A logger that is not a function is reported later, with the other mistakes.
  const ownLog = new OperatorLog(name);
  const log = ownLog.loggerOf(logger);
  const meta = resultMeta(options);
  // Middleware may change the `_meta` of an outcome, so only a server without middleware prints its `_meta` once.
  const complete = completeAs(use.length === 0 ? withPrint(meta) : meta);
  const access = readServerAccess(options.access, log);
  const on = readCompatibility(options.compatibility);
  const mapError = mapErrors(options.onError, log);
  const hasWebhooks = options.webhooks !== undefined;
  const outcomes = toolOutcomes(complete, on);
  const defaults = { timeoutMs, idempotency, log, mapError, outcomes, access, hasWebhooks };
  const compiled = compileDefinitions(options as object, defaults, mountedRules(options.mount, access));
  const info = serverInfo(options);
  return {
    options: withServerDefaults(options),
    extensions,
    info,
    ownLog,
    log,
    complete,
    on,
    defaults,
    compiled,
  };
}

/** The options of a server with the parts of its extensions. Throws a `DefinitionError` for one that is not an extension. */
function withExtensions(given: AnyServerOptions): {
  readonly options: AnyServerOptions;
  readonly extensions: readonly ServerExtension[];
} {
  if (typeof given !== 'object' || given === null)
    throw new DefinitionError([
      'createServer needs an object: createServer({ name, version, tools: { … } })',
    ]);
  const { extensions, ...rest } = given;
  if (!Array.isArray(extensions)) return { options: given, extensions: [] };
  const wrong = extensions.findIndex((each) => typeof each?.extend !== 'function');
  if (wrong >= 0)
    throw new DefinitionError([
      `extensions[${wrong}] is not an extension; make one with extension({ … }) of fullmcp/extension, and await a promise of one`,
    ]);
  return {
    extensions,
    options: extensions.reduce<AnyServerOptions>((options, each) => each.extend(options), rest),
  };
}

/**
 * The `_meta` of every result. It has only the name and the version of the server, because icons may be large. A name or version that is
 * not a string is reported later, with the other mistakes.
 */
function resultMeta({ name, version }: { readonly name: unknown; readonly version: unknown }): JsonObject {
  const info = {
    name: typeof name === 'string' ? name : '',
    version: typeof version === 'string' ? version : '',
  };
  return { [SERVER_INFO]: Object.freeze(info) };
}

/** The part of a server's options that describes the server. */
function serverInfo(options: Implementation): Implementation {
  const { name, version, title, description, websiteUrl, icons } = options;
  return {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(icons && { icons }),
  };
}
