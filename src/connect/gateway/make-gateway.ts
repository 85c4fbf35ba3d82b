import { every } from '../../async/every.js';
import { type Call, compose, type Dispatch, type Middleware, type Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { SERVER_INFO } from '../../protocol/meta.js';
import type { Implementation } from '../../protocol/model/model.js';
import { OperatorLog } from '../../protocol/telemetry/operator-log.js';
import { refusalListenersOf, withRefusalListeners } from '../../state/refusal-listeners.js';
import { entryTarget } from '../config/entry-target.js';
import { connectionCodes } from '../proxy/connection-errors.js';
import { makeForwarder } from '../proxy/forwarder.js';
import type { ProxyServer } from '../proxy/make-proxy.js';
import { targetOpener } from '../proxy/open-target.js';
import { connectionTable, type Identity } from '../proxy/options.js';
import { StateSeal } from '../proxy/state-seal.js';
import { type Checked, composeChecked } from '../routing/checked-use.js';
import { withFront } from '../routing/code-front.js';
import { routingDispatch } from '../routing/dispatch.js';
import { pickOptions } from '../targets/option-tables.js';
import type { Runtime } from '../targets/options.js';
import type { McpConfig } from '../targets/target.js';
import { configFile, type GatewayFiles, watchConfig } from './config-source.js';
import { gatewayCheck } from './gateway-check.js';
import { GatewayMember } from './gateway-member.js';
import { GatewayServers, type Reloaded } from './gateway-servers.js';
import type { GatewayServerInfo } from './member-state.js';
import { type GatewayBreaker, type GatewayOptions, readGatewayOptions } from './options.js';
import { Pins } from './pins/pins.js';
import { Screen } from './screen.js';

/** A server that presents several servers as one. `serve`, `serveStdio`, handlers and `connect` take it as any server. */
export interface Gateway extends ProxyServer {
  /** Reads the config. `serve` and the first call do it as well. Rejects if the config or the lock file has mistakes. */
  readonly start: () => Promise<void>;
  /** The state of each server, as JSON. */
  readonly servers: () => Readonly<Record<string, GatewayServerInfo>>;
  /** The name and the version of the gateway. */
  readonly info: Implementation;
  /**
   * Reads the config file once more, or takes another config. Only servers whose entry has changed are closed and opened anew. Rejects if
   * the config has mistakes; then nothing has changed.
   */
  readonly reload: (config?: McpConfig) => Promise<Reloaded>;
  /** Pins what a server offers now, so that it may be used. Only with the option `pins`. */
  readonly accept: (server: string) => Promise<void>;
}

/** Makes a server that presents several servers as one. */
export type GatewayTo = (config: McpConfig | string | URL, options?: GatewayOptions) => Gateway;

export interface GatewayParts {
  readonly runtime: Runtime;
  readonly files: GatewayFiles;
  /** Makes what stops calling a server that fails. */
  readonly breaker: (
    options: GatewayBreaker & {
      readonly isFailure: (error: unknown) => boolean;
      readonly onChange: (state: string) => void;
    },
  ) => Middleware;
}

const CHECK_TIMEOUT_MS = 10_000;

/** Makes the `gateway` of a runtime. */
export function makeGateway({ runtime, files, breaker: makeBreaker }: GatewayParts): GatewayTo {
  const openTarget = targetOpener(runtime);

  return function gateway(config, given = {}) {
    const options = readGatewayOptions(given);
    const { name, version, instructions, identity, use = [], allow, search, code } = options;
    const { pins: pinOptions, breaker, watchMs, healthMs, listTimeoutMs, drainMs } = options;
    const forAll = pickOptions(options, connectionTable);
    const logger = new OperatorLog(name).loggerOf(options.logger);
    const problem = (message: string, cause?: unknown): void => logger('warning', message, cause);
    const pins = pinOptions && new Pins(pinOptions, { files, report: (line) => logger('warning', line) });
    const file = typeof config === 'string' || config instanceof URL ? String(config) : undefined;
    if (watchMs !== undefined && file === undefined)
      throw new TypeError('gateway: watchMs looks at a config file, but the config is not a file.');

    const seal = new StateSeal();
    const servers = new GatewayServers({
      ...{ problem, drainMs },
      open(server, entry, onReady) {
        const own = identityFor(identity, server);
        const { target, options: given } = entryTarget(entry);
        const screen = new Screen({ server, allow, pins, problem, isSameForAll: own === 'drop' });
        const about = { ...forAll, ...given, identity: own };
        const member: GatewayMember = new GatewayMember(server, {
          elder: (each, call) => servers.elder(each, call),
          forwarder: (events) =>
            makeForwarder(target, {
              ...{ openTarget, seal, options: about, ...events },
              // A server must not decide when its lists are compared again.
              keepsLists: pins === undefined,
              logger: (level, message, detail) => logger(level, `${server}: ${message}`, detail),
            }),
          wrap: (dispatch) => (breaker === false ? dispatch : compose([breakerOf(breaker)], dispatch)),
          ...{ screen, problem, onReady, listTimeoutMs },
        });
        function breakerOf(limits: GatewayBreaker): Middleware {
          return makeBreaker({
            ...limits,
            // A server that cannot be reached at all is not tried for a while anyway.
            isFailure: (error) =>
              member.info.status === 'ready' && McpError.is(error) && connectionCodes.has(error.code),
            onChange(state) {
              member.isOpenCircuit = state === 'open';
              if (state === 'open')
                problem(`${server}: calls are refused for now, because the last ones have failed`);
            },
          });
        }
        return member;
      },
    });

    let loaded: Promise<void> | undefined;
    let isLoaded = false;
    let stopWatching: (() => void) | undefined;
    let stopChecking: (() => void) | undefined;

    async function load(): Promise<void> {
      await Promise.all([pins?.load(), front.programs?.start()]);
      // Before the file is read, so that no change in between is missed.
      const read = watchMs === undefined || file === undefined ? undefined : await files.version(file);
      if (file !== undefined) servers.apply(await configFile(runtime, file));
      isLoaded = true;
      if (watchMs !== undefined && file !== undefined)
        stopWatching = watchConfig(file, { files, watchMs, read, onChange: () => reload(), problem });
      if (healthMs === 0 || servers.ended.aborted) return;
      stopChecking = every(healthMs, () => {
        const ms = Math.min(healthMs, CHECK_TIMEOUT_MS);
        for (const member of servers.members.values()) void member.check(ms);
      });
    }

    // A config in the program is checked at once.
    if (file === undefined) servers.apply(config as McpConfig);

    function start(): Promise<void> {
      loaded ??= load().catch((error) => {
        loaded = undefined;
        throw error;
      });
      return loaded;
    }

    async function reload(other?: McpConfig): Promise<Reloaded> {
      await start();
      if (other === undefined && file === undefined)
        throw new TypeError('reload: there is no config file to read. Pass the new config.');
      const reloaded = servers.apply(other ?? (await configFile(runtime, file as string)));
      const { added, removed, changed } = reloaded;
      if (added.length + removed.length + changed.length > 0)
        logger('info', `The config was read: ${describe(reloaded)}.`);
      return reloaded;
    }

    const route = routingDispatch(servers);
    const dispatch: Dispatch = async (call) => {
      if (!isLoaded) await start();
      const outcome = await route(call);
      return call.method === 'server/discover'
        ? described(outcome, { name, version, instructions })
        : outcome;
    };

    // The rules come before middleware, which may answer with what it has kept of another caller's calls.
    const isOpenToAll = allow === undefined && pins?.isStrict !== true && !asksIdentity(identity);
    const check = gatewayCheck(servers);
    async function checkLoaded(call: Call): Promise<Checked> {
      if (!isLoaded) await start();
      return check(call);
    }
    const answer = isOpenToAll ? compose(use, dispatch) : composeChecked(use, dispatch, checkLoaded);

    async function close(): Promise<void> {
      stopWatching?.();
      stopChecking?.();
      // Programs call the servers until they have ended.
      await front.programs?.close();
      await servers.close();
    }

    const front = withFront(
      allow === undefined ? answer : guarded(answer),
      { search, code },
      { ...{ owner: 'gateway', warn: problem }, ...{ name, version, logger } },
    );
    const { programs } = front;
    const provideSecret: StateSeal['provide'] = (secret) => {
      seal.provide(secret);
      programs?.provideSecret(secret);
    };
    const made = {
      dispatch: front.dispatch,
      logger,
      start,
      reload,
      close,
      // Transports call them, and nobody else needs them.
      provideSecret,
      ...(programs && { provideCluster: programs.provideCluster, drain: programs.drain }),
      info: { name, version },
      servers: () => Object.fromEntries([...servers.members].map(([each, { info }]) => [each, info])),
      async accept(server: string) {
        if (pins === undefined)
          throw new TypeError('accept: the gateway has no pins. Set the option `pins`.');
        await pins.accept(server);
        servers.members.get(server)?.accepted();
      },
      [Symbol.asyncDispose]: close,
    };
    return withRefusalListeners(made, use.flatMap(refusalListenersOf));
  };
}

/** A cache in front of the gateway must not give a result to callers whom the rule refuses, whatever its server says. */
function guarded(answer: Dispatch): Dispatch {
  return async function guardedAnswer(call) {
    const outcome = await answer(call);
    return outcome['cacheScope'] === 'public' ? { ...outcome, cacheScope: 'private' } : outcome;
  };
}

function identityFor(identity: NonNullable<GatewayOptions['identity']>, server: string): Identity {
  if (typeof identity !== 'object') return identity;
  return Object.hasOwn(identity, server) ? (identity[server] ?? 'drop') : 'drop';
}

/** Whether a function decides as whom a server is called. It may refuse the call. */
function asksIdentity(identity: NonNullable<GatewayOptions['identity']>): boolean {
  const all = typeof identity === 'object' ? Object.values(identity) : [identity];
  return all.some((one) => typeof one === 'function');
}

function described(
  outcome: Outcome,
  { name, version, instructions }: { name: string; version: string; instructions: string | undefined },
): Outcome {
  const all = [instructions, outcome['instructions']].filter((part) => typeof part === 'string');
  return {
    ...outcome,
    ...(all.length > 0 && { instructions: all.join('\n\n') }),
    _meta: { ...(outcome['_meta'] as object), [SERVER_INFO]: { name, version } },
  };
}

function describe({ added, removed, changed }: Reloaded): string {
  return Object.entries({ added, removed, changed })
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${what}: ${names.join(', ')}`)
    .join('; ');
}
