import { type Call, compose, type Dispatch } from '../../protocol/call.js';
import { checkOptions } from '../../protocol/checks/known-keys.js';
import { checkCounts, timerMs } from '../../protocol/checks/number-options.js';
import { OperatorLog } from '../../protocol/telemetry/operator-log.js';
import type { ConnectOptions, Runtime } from '../targets/options.js';
import type { Target } from '../targets/target.js';
import { forwarding } from './forwarding.js';
import { HeldCalls } from './held-calls.js';
import { identityOf, withIdentity } from './identity.js';
import { targetOpener } from './open-target.js';
import { type ProxyLogger, type ProxyOptions, proxyKeys } from './options.js';
import { ProxyLinks } from './proxy-links.js';

/** A server that passes every call on to another one. `serve`, `serveStdio`, handlers and `connect` take it as any server. */
export interface ProxyServer extends AsyncDisposable {
  /** Passes a call on. */
  readonly dispatch: Dispatch;
  /** Writes to the `logger` of the options. */
  readonly logger: ProxyLogger;
  /** Does nothing: the connection is opened with the first call, so that the other server may start later. */
  readonly start: () => Promise<void>;
  /** Does nothing: a proxy has no state of its own to seal. */
  readonly provideSecret: () => void;
  /** Cancels the calls that wait for answers, and closes the connections. */
  readonly close: () => Promise<void>;
}

/** Makes a server that passes every call on to the target. */
export type ProxyTo = (target: Target, options?: ProxyOptions) => ProxyServer;

/** Makes the `proxy` of a runtime. */
export function makeProxy(runtime: Runtime): ProxyTo {
  const openTarget = targetOpener(runtime);
  return function proxy(target, options = {}) {
    checkOptions('proxy', options, proxyKeys);
    const { identity = 'drop', use = [], logger = new OperatorLog('proxy').log, ...rest } = options;
    const { maxConnections = 100, idleMs = 300_000, answerMs = 600_000, ...connecting } = rest;
    checkCounts('proxy', { maxConnections });
    const connect: ConnectOptions = connecting;
    // Says at once that the target is none.
    openTarget(target, connect);
    const links = new ProxyLinks({
      openAs: (as) => openTarget(target, as === undefined ? connect : withIdentity(connect, as)),
      connectTimeoutMs: connect.connectTimeoutMs ?? 30_000,
      maxConnections,
      idleMs: timerMs('idleMs', idleMs),
      problem: (message, cause) => logger('warning', message, cause),
    });
    const held = new HeldCalls(timerMs('answerMs', answerMs));
    const identify = (call: Call) => identityOf(identity, call);
    const dispatch = compose(use, forwarding({ links, held, identify }));
    const close = async (): Promise<void> => {
      held.close();
      await links.close();
    };
    return {
      dispatch,
      logger,
      close,
      start: async () => undefined,
      provideSecret: () => undefined,
      [Symbol.asyncDispose]: close,
    };
  };
}
