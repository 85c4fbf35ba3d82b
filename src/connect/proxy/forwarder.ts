import { Lifetime } from '../../async/lifetime.js';
import type { Call, Dispatch } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { CallRefusal } from '../routing/checked-use.js';
import type { ConnectOptions } from '../targets/options.js';
import type { Target } from '../targets/target.js';
import { ConnectionErrors } from './connection-errors.js';
import { type ForwardingParts, forwarding } from './forwarding.js';
import { HeldCalls } from './held-calls.js';
import { identityOf, withIdentity } from './identity.js';
import { ListCache } from './list-cache.js';
import type { TargetLink } from './open-target.js';
import type { FilledProxyOptions, ProxyLogger } from './options.js';
import { type LinksState, ProxyLinks } from './proxy-links.js';
import type { StateSeal } from './state-seal.js';

type OpenTarget = (target: Target, options: ConnectOptions) => TargetLink;

export interface ForwarderParts {
  readonly openTarget: OpenTarget;
  readonly options: Omit<FilledProxyOptions, 'use' | 'logger'>;
  readonly logger: ProxyLogger;
  /** Seals the states of the server for the callers. */
  readonly seal: StateSeal;
  /** Called when the server becomes reachable or stops to be. */
  readonly onState?: ((state: LinksState) => void) | undefined;
  /** Whether lists are kept for as long as the server allows. Default: true. */
  readonly keepsLists?: boolean;
  /** Called when a call stops to wait for answers, because they took too long. */
  readonly onRelease?: (() => void) | undefined;
}

/** Passes calls on to one server. */
export interface Forwarder {
  readonly dispatch: Dispatch;
  /** The reason why the function of `identity` keeps a call from being passed on; undefined if it does not. */
  readonly refusal: (call: Call) => Promise<CallRefusal | undefined>;
  /** Whether a call has the answers that a call to this server waits for. */
  readonly awaits: (call: Call) => boolean;
  /** The number of calls that wait for answers. */
  readonly waiting: number;
  /** Asks over every open connection whether the server is there. Returns how many did not answer within `ms`. */
  readonly check: (ms: number) => Promise<number>;
  /** Cancels the calls that wait for answers, and closes the connections. */
  readonly close: () => Promise<void>;
}

/** Makes what passes calls on to a target. Says at once if the target is none. */
export function makeForwarder(target: Target, parts: ForwarderParts): Forwarder {
  const { openTarget, options, logger, onState, onRelease } = parts;
  const { identity, maxConnections, idleMs, answerMs, ...rest } = options;
  const connect: ConnectOptions = rest;
  const { timeoutMs } = openTarget(target, connect);
  const lists = parts.keepsLists === false ? undefined : new ListCache();
  const links = new ProxyLinks({
    openAs: (as) => openTarget(target, as === undefined ? connect : withIdentity(connect, as)).open,
    connectTimeoutMs: timeoutMs,
    maxConnections,
    idleMs,
    problem: (message, cause) => logger('warning', message, cause),
    onState,
    onNotification: (method, link) => lists?.onNotification(method, link),
  });
  const held = new HeldCalls(answerMs, onRelease);
  const identify: ForwardingParts['identify'] = (call, progress) => identityOf(identity, call, progress);
  const errors = new ConnectionErrors(logger);
  const closing = new Lifetime();
  const { dispatch, refusal } = forwarding({
    ...{ links, held, lists, identify, seal: parts.seal },
    closing,
  });
  return {
    dispatch: (call) =>
      dispatch(call).catch((error) => {
        throw errors.toCaller(call, error);
      }),
    refusal: async (call) => (typeof identity === 'function' ? refusal(call) : undefined),
    check: (ms) => links.check(ms),
    awaits: (call) => held.has(call),
    get waiting() {
      return held.size;
    },
    async close() {
      closing.end(new McpError('connection_closed', 'The proxy was closed.'));
      held.close();
      await links.close();
    },
  };
}
