// One server of a gateway: a proxy, and what its callers may see of it.

import { unlessAborted } from '../../async/abort.js';
import { withDeadline } from '../../async/deadline.js';
import { Lifetime, onEnd, withSignal, withSignalOf } from '../../async/lifetime.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import { cancelledBy, copyError, McpError, toMcpError } from '../../protocol/errors.js';
import { declaringEvents } from '../../protocol/events/dialects.js';
import { EVENT_STREAM } from '../../protocol/events/methods.js';
import { SERVER_INFO } from '../../protocol/meta.js';
import type { Discovered, Implementation, SubscriptionFilter } from '../../protocol/model/model.js';
import { ACKNOWLEDGED, includes } from '../../protocol/model/subscriptions.js';
import { staysOpen } from '../../protocol/standing-calls.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import { connectionCodes } from '../proxy/connection-errors.js';
import type { Forwarder, ForwarderParts } from '../proxy/forwarder.js';
import type { LinksState } from '../proxy/proxy-links.js';
import { type CallRefusal, unmarked } from '../routing/checked-use.js';
import { lists } from '../routing/lists.js';
import { withServer } from '../routing/names.js';
import { fetchPages } from '../routing/pages.js';
import type { ListName, Offer, Routed, RoutedSubscription, WantedItem } from '../routing/router.js';
import type { GatewayServerInfo } from './member-state.js';
import type { Screen } from './screen.js';

export interface GatewayMemberParts {
  /** Passes calls on to the server. */
  readonly forwarder: (events: Pick<ForwarderParts, 'onState' | 'onRelease'>) => Forwarder;
  /** Wraps the calls to this server, such as with a circuit breaker. */
  readonly wrap: (dispatch: Dispatch) => Dispatch;
  /** The server that had this name before, if it still waits for the answers of this call. */
  readonly elder: (name: string, call: Call) => GatewayMember | undefined;
  /** Decides what is seen and used of this server. */
  readonly screen: Screen;
  readonly listTimeoutMs: number;
  readonly problem: (message: string, cause?: unknown) => void;
  /** Called when the server is reachable. `wasMissed`: a list was made without it. */
  readonly onReady: (member: GatewayMember, wasMissed: boolean) => void;
}

/** One server of a gateway. It is connected when it is first needed. */
export class GatewayMember implements Routed {
  readonly name: string;
  isHealthy: boolean | undefined;
  isOpenCircuit = false;
  readonly #parts: GatewayMemberParts;
  readonly #forwarder: Forwarder;
  readonly #dispatch: Dispatch;
  #status: GatewayServerInfo['status'] = 'idle';
  #error: McpError | undefined;
  #discovered: Discovered | undefined;
  #revision: Revision | undefined;
  #wasMissed = false;
  #openCalls = 0;
  #onDrained: (() => void) | undefined;
  #reported = '';

  constructor(name: string, parts: GatewayMemberParts) {
    this.name = name;
    this.#parts = parts;
    this.#forwarder = parts.forwarder({
      onState: (state) => this.#onState(state),
      onRelease: () => this.#maybeDrained(),
    });
    this.#dispatch = parts.wrap(this.#forwarder.dispatch);
  }

  get facts(): Routed['facts'] {
    const discovered = this.#discovered;
    if (discovered === undefined) return undefined;
    return { capabilities: discovered.capabilities, instructions: this.#parts.screen.instructions };
  }

  /** Subscriptions outlive connections, so that the member itself stands for all of them. */
  get connection(): object | undefined {
    return this.#status === 'ready' ? this : undefined;
  }

  get info(): GatewayServerInfo {
    const server = this.#discovered?._meta?.[SERVER_INFO] as Implementation | undefined;
    return {
      status: this.#status,
      isOpenCircuit: this.isOpenCircuit,
      openCalls: this.#openCalls,
      ...(this.isHealthy !== undefined && { isHealthy: this.isHealthy }),
      ...(this.#error !== undefined && { error: this.#error.message }),
      ...(server !== undefined && { server }),
      ...(this.#revision !== undefined && { revision: this.#revision }),
    };
  }

  /** The reason why a call to this server must not be made; undefined if there is none. The call is not made. */
  async refusal(call: Call, changes: JsonObject = {}): Promise<CallRefusal | undefined> {
    const { screen, elder } = this.#parts;
    const own = copyCall(call, { params: { ...call.params, ...changes } });
    const older = this.#forwarder.awaits(own) ? undefined : elder(this.name, own);
    if (older !== undefined) return older.refusal(call, changes);
    await screen.rejectHidden(own, (kind) => this.#fetch(kind, own, own.signal));
    return this.#forwarder.refusal(own);
  }

  /** The reason why the identity of this server's callers refuses one; undefined if it does not. */
  identityRefusal(call: Call): Promise<CallRefusal | undefined> {
    return this.#forwarder.refusal(call);
  }

  async forward(call: Call, changes: JsonObject = {}): Promise<Outcome> {
    const own = withSignalOf(call, { ...call, params: unmarked({ ...call.params, ...changes }) });
    // The caller may answer a question of the server that had this name before.
    const elder = this.#forwarder.awaits(own) ? undefined : this.#parts.elder(this.name, own);
    if (elder !== undefined) return elder.forward(call, changes);
    await this.#parts.screen.admit(own, (kind) => this.#fetch(kind, own, own.signal));
    const sent = own.method === EVENT_STREAM ? this.#stream(own) : this.#send(own);
    const outcome = await sent.catch(async (error) => {
      throw await this.#parts.screen.withoutHints(own, error, (kind) => this.#fetch(kind, own, own.signal));
    });
    return withServer(this, call.method, outcome);
  }

  async list(kind: ListName, call: Call): Promise<readonly JsonObject[] | undefined> {
    return this.#attempt(call, `its ${lists[kind].field} are left out`, (signal) =>
      this.#parts.screen.select(kind, call, (each) => this.#fetch(each, call, signal)),
    );
  }

  async offers(
    wanted: WantedItem,
    call: Call,
    { fetch = false }: { readonly fetch?: boolean } = {},
  ): Promise<Offer> {
    const { screen } = this.#parts;
    if (!fetch) return screen.offer(wanted, call);
    const unavailable = `its ${lists[wanted.kind].field} are left out`;
    const offer = await this.#attempt(call, unavailable, (signal) =>
      screen.offer(wanted, call, (kind) => this.#fetch(kind, call, signal)),
    );
    // The error for an unknown URI names the servers that are not connected: hidden ones must not differ in that.
    if (offer === 'never' && this.connection === undefined) await this.reach(call, unavailable);
    return offer ?? 'unknown';
  }

  forget(kind: ListName): void {
    this.#parts.screen.forgetList(kind);
  }

  async reach(call: Call, unavailable: string): Promise<void> {
    const asking = { ...call, method: 'server/discover', params: {}, notify: () => undefined };
    await this.#attempt(call, unavailable, (signal) => this.#send(withSignal(asking, { signal })));
  }

  await<T>(call: Call, unavailable: string, waiting: Promise<T>): Promise<T | undefined> {
    return this.#attempt(call, unavailable, () => waiting);
  }

  async subscribe(
    call: Call,
    wanted: SubscriptionFilter,
    onChange: (method: string, params: JsonObject) => void,
  ): Promise<RoutedSubscription> {
    const { screen } = this.#parts;
    const notifications = await screen.subscription(call, wanted, (kind) =>
      this.#fetch(kind, call, call.signal),
    );
    const lifetime = new Lifetime();
    const close = (): void => lifetime.end(new McpError('cancelled', 'The subscription was closed.'));
    const forget = onEnd(call, close);
    const accepted = await new Promise<SubscriptionFilter>((resolve, reject) => {
      const notify: Call['notify'] = (method, params = {}) => {
        if (method === ACKNOWLEDGED) resolve((params['notifications'] ?? {}) as SubscriptionFilter);
        else if (includes(notifications, method, params)) this.#onChange(call, { method, params }, onChange);
      };
      const { _meta } = call.params;
      const params = { notifications: { ...notifications }, ...(_meta !== undefined && { _meta }) };
      const listening = withSignal({ ...call, params: params as JsonObject, notify }, lifetime);
      this.#send(listening)
        .then(() => resolve({}), reject)
        .finally(forget);
    });
    return { accepted, close };
  }

  #onChange(
    call: Call,
    { method, params }: { readonly method: string; readonly params: JsonObject },
    notify: (method: string, params: JsonObject) => void,
  ): void {
    const { screen } = this.#parts;
    if (method.endsWith('/list_changed')) screen.outdate();
    if (method !== 'notifications/resources/updated' || !screen.isSelective) return notify(method, params);
    // It may be a part of the resource that was subscribed to, and hidden.
    const wanted = { kind: 'resources', name: String(params['uri']) } as const;
    screen
      .offer(wanted, call, (kind) => this.#fetch(kind, call, call.signal))
      .then((offer) => (offer === 'never' ? undefined : notify(method, params)))
      .catch((error) => this.#parts.problem(`${this.name}: a change was not reported`, error));
  }

  /** Asks the server whether it is there, if it is connected. */
  async check(ms: number): Promise<void> {
    if (this.#status !== 'ready') return;
    const silent = await this.#forwarder.check(ms);
    if (silent > 0 && this.isHealthy !== false)
      this.#parts.problem(`${this.name}: the server does not answer within ${ms} ms`);
    this.isHealthy = silent === 0;
  }

  /** Takes note that an operator has accepted everything that was held back. */
  accepted(): void {
    const { screen, onReady } = this.#parts;
    screen.outdate();
    screen.meet(this.#discovered?.instructions);
    onReady(this, true);
  }

  /** Closes the server when its calls have ended, at the latest after `drainMs`. */
  async close(drainMs = 0): Promise<void> {
    this.#status = 'closed';
    if (drainMs > 0 && this.#isBusy)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, drainMs);
        this.#onDrained = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    await this.#forwarder.close();
  }

  async #fetch(kind: ListName, call: Call, signal: AbortSignal): Promise<readonly JsonObject[]> {
    const capabilities = declaringEvents({ ...this.#discovered?.capabilities });
    if (this.#status === 'ready' && capabilities[lists[kind].capability] === undefined) return [];
    return fetchPages((listing) => this.#send(listing), kind, { call, signal });
  }

  /** A stream of events. Its caller may lose the right to have them while it is open. */
  async #stream(call: Call): Promise<Outcome> {
    const { screen } = this.#parts;
    if (!screen.isSelective) return this.#send(call);
    const { watchedStream } = await import('./watched-stream.js');
    return watchedStream(call, (each) => this.#send(each), {
      recheck: () => screen.rejectHidden(call, (kind) => this.#fetch(kind, call, call.signal)),
    });
  }

  async #send(call: Call): Promise<Outcome> {
    const isSubscription = staysOpen(call.method);
    if (!isSubscription) this.#openCalls++;
    try {
      return await this.#dispatch(call);
    } catch (error) {
      throw this.#named(error);
    } finally {
      if (!isSubscription) this.#openCalls--;
      this.#maybeDrained();
    }
  }

  /** Whether it waits for answers that this call has. */
  awaits(call: Call): boolean {
    return this.#forwarder.awaits(call);
  }

  get #isBusy(): boolean {
    return this.#openCalls > 0 || this.#forwarder.waiting > 0;
  }

  #maybeDrained(): void {
    if (!this.#isBusy) this.#onDrained?.();
  }

  /** Errors of the connection to the server name it. Those of the server itself pass unchanged. */
  #named(error: unknown): unknown {
    return McpError.is(error) && connectionCodes.has(error.code)
      ? copyError(error, { message: `${this.name}: ${error.message}`, cause: error })
      : error;
  }

  /** Runs `work`. Undefined if that fails or takes too long, which is reported once. */
  async #attempt<T>(
    call: Call,
    unavailable: string,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const { signal } = call;
    const ms = this.#parts.listTimeoutMs;
    try {
      return await withDeadline({ signal, ms, reason: () => lateError(this.name, ms) }, (own) =>
        unlessAborted(work(own), own),
      );
    } catch (error) {
      if (signal.aborted) throw cancelledBy(error);
      this.#wasMissed = true;
      this.#report(error, call, unavailable);
      return undefined;
    }
  }

  /** Tells the operator why something is left out. A server that cannot be reached is reported once, and not for each of its lists. */
  #report(error: unknown, { via, isLocal }: Call, unavailable: string): void {
    const { code, message, cause } = toMcpError(error);
    const reason = message.startsWith(`${this.name}: `) ? message : `${this.name}: ${message}`;
    const isAway = connectionCodes.has(code) && cause !== undefined;
    const line = isAway
      ? `${reason.replace(/\.$/, '')}; it is left out of lists`
      : `${reason}; ${unavailable}`;
    if (line === this.#reported) return;
    this.#reported = line;
    // A caller elsewhere is not told the reason, so that it is in the log already.
    const isLogged = isAway && via !== undefined && isLocal !== true;
    if (!isLogged) this.#parts.problem(line, isAway ? undefined : error);
  }

  #onState(state: LinksState): void {
    if (this.#status === 'closed') return;
    this.#status = state.status;
    this.#error = state.status === 'failed' ? state.error : undefined;
    // The server may have become another one, also if other connections to it are open.
    this.#parts.screen.forget();
    if (state.status !== 'ready') {
      this.isHealthy = undefined;
      if (state.status === 'failed') this.#wasMissed = true;
      return;
    }
    this.#discovered = state.discovered;
    this.#revision = state.revision;
    this.#reported = '';
    const wasMissed = this.#wasMissed;
    this.#wasMissed = false;
    this.#parts.screen.meet(state.discovered.instructions);
    this.#parts.onReady(this, wasMissed);
  }
}

function lateError(name: string, ms: number): McpError {
  return new McpError('timeout', `${name}: no response within ${ms} ms`);
}
