import { hasEnded, type Lifetime, withSignalOf } from '../../async/lifetime.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { userRejected } from '../../protocol/errors.js';
import { withoutPeer } from '../../protocol/meta.js';
import { isRejectedSampling } from '../../protocol/model/input.js';
import { modernRevisions } from '../../protocol/tables/features.js';
import { isCacheable } from '../../protocol/tables/methods.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import type { CallRefusal } from '../routing/checked-use.js';
import { CallerTags, carriedOutcome, carriedParams } from './caller-tags.js';
import { ForwardedCall } from './forwarded-call.js';
import type { HeldCalls } from './held-calls.js';
import type { ListCache } from './list-cache.js';
import { listen } from './listen.js';
import { afterLogin, askToLogIn, isOpenToAll, mayAsk } from './login-question.js';
import type { ForwardedIdentity, Identified, LoginProgress } from './options.js';
import { ParamChecks } from './param-checks.js';
import type { ProxyLink } from './proxy-link.js';
import type { ProxyLinks } from './proxy-links.js';
import { isSealed, type StateSeal } from './state-seal.js';

export interface ForwardingParts {
  /** Keeps lists; undefined if none may be kept. */
  readonly lists: ListCache | undefined;
  readonly links: ProxyLinks;
  readonly held: HeldCalls;
  /** Seals the states of the server for the callers. */
  readonly seal: StateSeal;
  readonly identify: (call: Call, progress: LoginProgress) => Identified | Promise<Identified>;
  /** Ends when the connections are closed for good. */
  readonly closing: Lifetime;
}

export interface CallForwarding {
  readonly dispatch: Dispatch;
  /** The reason why a call would not be passed on: its caller was refused, or has to log in first. */
  readonly refusal: (call: Call) => Promise<CallRefusal | undefined>;
}

/** A call, and the credentials for it. */
interface Prepared {
  readonly call: Call;
  readonly identity: ForwardedIdentity | undefined;
}

/** Passes calls on over the connections of a proxy. */
export function forwarding({ links, held, lists, identify, closing, seal }: ForwardingParts): CallForwarding {
  const tags = new CallerTags();

  async function prepare(round: Call): Promise<Prepared | { readonly question: Outcome }> {
    const continued = afterLogin(round);
    const call = continued ?? round;
    const identified = await identify(call, { accepted: continued !== undefined });
    const needsLogin = identified !== undefined && 'login' in identified;
    if (needsLogin && !isOpenToAll(call)) return { question: askToLogIn(call, identified.login) };
    return { call, identity: needsLogin ? undefined : identified };
  }

  async function refusal(call: Call): Promise<CallRefusal | undefined> {
    if (held.isAnswer(call)) return undefined;
    try {
      const prepared = await prepare(call);
      return 'question' in prepared ? prepared : undefined;
    } catch (error) {
      return { error };
    }
  }

  async function forward(round: Call): Promise<Outcome> {
    const prepared = await prepare(round);
    return 'question' in prepared ? prepared.question : send(prepared);
  }

  async function send({ call, identity }: Prepared): Promise<Outcome> {
    const isList = lists?.isList(call.method) === true;
    const known = isList ? lists.find(call, identity) : undefined;
    if (known !== undefined) return known;
    const opened = isSealed(call.params['requestState']) ? await seal.open(call) : undefined;
    const { link, owner, alone, done } = await links.take(call, identity);
    const end = (): void => done(hasEnded(call));
    const user = owner ?? alone;
    const params = carriedParams(call, { owner, alone, tags, opened });
    const sent = sentAs(call, identity, link.isModern ? params : withoutPeer(params));
    if (link.isModern) {
      if (hasRejection(call.params)) {
        end();
        throw userRejected();
      }
      const keep = isList ? lists.keeper(call, identity) : undefined;
      const outcome = carriedOutcome(await link.dispatch(sent, owner).finally(end));
      keep?.(outcome);
      return outcome['requestState'] === undefined ? outcome : seal.close(outcome, call);
    }
    if (isList) return listOf(link, sent, user).finally(end);
    if (!mayAsk(call.method)) return inFull(call.method, await link.dispatch(sent, user).finally(end));
    const forwarded = new ForwardedCall();
    link.begin(forwarded, sent, user);
    forwarded.whenSettled(() => done(forwarded.wasLeft));
    return inFull(call.method, await held.next(forwarded, call));
  }

  async function listOf(link: ProxyLink, sent: Call, user: string | undefined): Promise<Outcome> {
    const kept = lists?.ofLink(link, sent);
    if (kept?.outcome !== undefined) return kept.outcome;
    const outcome = inFull(sent.method, await link.dispatch(sent, user));
    kept?.keep(outcome);
    return outcome;
  }

  const checks = new ParamChecks();
  async function listTools(call: Call): Promise<Outcome> {
    const outcome = await forward(call);
    checks.learn(outcome);
    return outcome;
  }

  async function callTool(call: Call): Promise<Outcome> {
    await checks.check(call, forward);
    return forward(call);
  }

  function subscribe(call: Call): Promise<Outcome> {
    const notify: Call['notify'] = (method, params) => {
      if (method === 'notifications/tools/list_changed') checks.forget();
      lists?.onNotification(method);
      call.notify(method, params);
    };
    return listen(withSignalOf(call, { ...call, notify }), forward);
  }

  async function forwardEvents(call: Call): Promise<Outcome> {
    const { passEvents } = await import('./events.js');
    return passEvents(call, {
      closing,
      async prepare(each) {
        const prepared = await prepare(each);
        return 'question' in prepared
          ? { isKnown: true, send: async () => prepared.question }
          : { isKnown: prepared.identity !== undefined, send: () => send(prepared) };
      },
    });
  }

  async function dispatch(call: Call): Promise<Outcome> {
    if (held.isAnswer(call)) return held.continue(call);
    switch (call.method) {
      case 'server/discover':
        // The revisions are those that the proxy speaks, whatever its server does.
        return { ...(await forward(call)), supportedVersions: modernRevisions };
      case 'subscriptions/listen':
        return subscribe(call);
      case 'tools/list':
        return listTools(call);
      case 'tools/call':
        return call.http?.mirrored === undefined ? forward(call) : callTool(call);
      default:
        return call.method.startsWith('events/') ? forwardEvents(call) : forward(call);
    }
  }

  return { dispatch, refusal };
}

/** The call as the server gets it. The caller's identity is passed on only as configured. */
function sentAs(call: Call, identity: ForwardedIdentity | undefined, params: JsonObject): Call {
  const { id, method, peer, notify } = call;
  const auth = identity?.caller;
  return withSignalOf(call, {
    id,
    method,
    params,
    peer: { ...peer, revision: newestRevision },
    auth,
    notify,
  });
}

// Spec 2026-07-28, Sampling, Error Handling: a call whose user declines is not sent again.
function hasRejection({ inputResponses }: JsonObject): boolean {
  return isObject(inputResponses) && Object.values(inputResponses).some(isRejectedSampling);
}

/** Results of older servers do not say how long they may be cached, so they may not. */
function inFull(method: string, outcome: Outcome): Outcome {
  return isCacheable(method) && outcome.resultType === 'complete'
    ? { ttlMs: 0, cacheScope: 'private', ...outcome }
    : outcome;
}
