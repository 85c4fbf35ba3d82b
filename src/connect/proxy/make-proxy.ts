import { compose, type Dispatch } from '../../protocol/call.js';
import { OperatorLog } from '../../protocol/telemetry/operator-log.js';
import { refusalListenersOf, withRefusalListeners } from '../../state/refusal-listeners.js';
import { composeChecked } from '../routing/checked-use.js';
import { withSearch } from '../routing/search-front.js';
import type { Runtime } from '../targets/options.js';
import type { Target } from '../targets/target.js';
import { makeForwarder } from './forwarder.js';
import { targetOpener } from './open-target.js';
import { type ProxyLogger, type ProxyOptions, readProxyOptions } from './options.js';
import { StateSeal } from './state-seal.js';

/** A server that passes every call on to another one. `serve`, `serveStdio`, handlers and `connect` take it as any server. */
export interface ProxyServer extends AsyncDisposable {
  /** Passes a call on. */
  readonly dispatch: Dispatch;
  /** Writes to the `logger` of the options. */
  readonly logger: ProxyLogger;
  /** Does nothing: the connection is opened with the first call, so that the other server may start later. */
  readonly start: () => Promise<void>;
  /** Cancels the calls that wait for answers, and closes the connections. */
  readonly close: () => Promise<void>;
}

/** Makes a server that passes every call on to the target. */
export type ProxyTo = (target: Target, options?: ProxyOptions) => ProxyServer;

/** Makes the `proxy` of a runtime. */
export function makeProxy(runtime: Runtime): ProxyTo {
  const openTarget = targetOpener(runtime);
  return function proxy(target, options = {}) {
    const { use = [], search, logger: own, ...rest } = readProxyOptions(options);
    const logger = new OperatorLog('proxy').loggerOf(own);
    const seal = new StateSeal();
    const forwarder = makeForwarder(target, { openTarget, logger, options: rest, seal });
    // The function of `identity` may refuse a caller, and middleware may answer with what it has kept of another caller's calls.
    const answer =
      typeof options.identity === 'function'
        ? composeChecked(use, forwarder.dispatch, async (call) => {
            return { call, refusal: await forwarder.refusal(call) };
          })
        : compose(use, forwarder.dispatch);
    const dispatch = withSearch(answer, search, {
      owner: 'proxy',
      warn: (message, cause) => logger('warning', message, cause),
    });
    const { close } = forwarder;
    const made = {
      dispatch,
      logger,
      close,
      start: async () => undefined,
      // Transports call it, and nobody else needs it.
      provideSecret: seal.provide,
      [Symbol.asyncDispose]: close,
    };
    return withRefusalListeners(made, use.flatMap(refusalListenersOf));
  };
}
