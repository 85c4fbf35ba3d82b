// The part of one server of a gateway that callers may see and use: the rule allows it, and the pins do not hold it back.

import { BoundedMap } from '../../async/bounded-map.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { isObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { dialectOfCall, unknownEvent } from '../../protocol/event-failures.js';
import { failureOf } from '../../protocol/events/dialects.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import { notFound } from '../../protocol/not-found.js';
import { listedKeys, lists, matching } from '../routing/lists.js';
import type { ListedKeys, ListName, Offer, WantedItem } from '../routing/router.js';
import type { GatewayItem, GatewayRule } from './options.js';
import type { Pins } from './pins/pins.js';

export type FetchList = (kind: ListName) => Promise<readonly JsonObject[]>;

export interface ScreenParts {
  readonly server: string;
  readonly allow: GatewayRule | undefined;
  readonly pins: Pins | undefined;
  /** Whether all callers see the same lists: then something that is missing was removed. */
  readonly isSameForAll: boolean;
  readonly problem: (message: string, cause?: unknown) => void;
}

/** The longest error that is searched for hidden names. A longer one is not passed on. */
const MAX_SEARCHED = 10_000;

/** An error that a server gave to a call, and the thing that the call names. */
interface Hinting {
  readonly item: GatewayItem;
  readonly call: Call;
  readonly error: McpError;
  readonly fetch: FetchList;
}

/** A list as it was when it was fetched last. */
interface Seen {
  /** The keys of everything that the server lists, also of what is held back. */
  readonly all: ListedKeys;
  /** The keys of what the pins do not hold back. */
  readonly accepted: ListedKeys;
  /** When it was fetched, by the clock that nobody can set. */
  readonly at: number;
}

type SeenLists = Map<ListName, Seen>;

/** Definitions that were compared are compared again after this time, so that a server cannot change them silently for long. */
const COMPARE_AGAIN_MS = 60_000;
/** The callers whose lists are remembered, if each of them may see others. */
const MAX_CALLERS = 100;
/** Callers choose their capabilities. The lists of one with longer ones are not remembered. */
const MAX_VIEW_LENGTH = 8192;
const kinds: Readonly<Record<GatewayItem['kind'], ListName>> = {
  tool: 'tools',
  prompt: 'prompts',
  resource: 'resources',
  template: 'templates',
  event: 'events',
};

/** Decides what is seen and used of one server. */
export class Screen {
  readonly #parts: ScreenParts;
  /** The lists that were fetched last, by those who see the same. */
  readonly #seen = new BoundedMap<string, SeenLists>(MAX_CALLERS);
  /** Counts the changes: a list that was on its way while it changed may be an old one. */
  #generation = 0;
  #recording: Promise<void> | undefined;
  #instructions: string | undefined;
  #offered: string | undefined;

  constructor(parts: ScreenParts) {
    this.#parts = parts;
  }

  /** The advice of the server, if it may be passed on. */
  get instructions(): string | undefined {
    return this.#instructions;
  }

  /** Takes the advice that a server gives when it is connected. */
  meet(instructions: string | undefined): void {
    const { pins, server, problem } = this.#parts;
    this.#offered = instructions;
    if (pins === undefined) this.#instructions = instructions;
    else {
      this.#instructions = undefined;
      pins
        .isNew(server)
        .then(async (isNew) => {
          const checked = isNew ? undefined : await pins.checkInstructions(server, instructions);
          if (this.#offered === instructions) this.#instructions = checked;
        })
        .catch((error) => problem(`${server}: its instructions cannot be compared`, error));
    }
  }

  /** Forgets what was compared: the server may come back as another one. */
  forget(): void {
    this.#seen.clear();
  }

  /** Forgets what was compared, also of lists that are on their way: the lists have changed, or what may be used of them. */
  outdate(): void {
    this.#generation++;
    this.forget();
  }

  /** Forgets one list, which has changed. */
  forgetList(kind: ListName): void {
    this.#generation++;
    for (const lists of this.#seen.values()) lists.delete(kind);
  }

  /** The entries of a list that a caller may see. */
  async select(kind: ListName, call: Call, fetch: FetchList): Promise<readonly JsonObject[]> {
    const { left: pinned } = await this.#compare(kind, call, fetch);
    const { allow, server } = this.#parts;
    if (allow === undefined) return pinned;
    const { key, one } = lists[kind];
    const allowed = await Promise.all(
      pinned.map((item) => allow({ server, kind: one, name: item[key] as string }, call.auth)),
    );
    return pinned.filter((_, at) => allowed[at] === true);
  }

  /** Throws if a call uses what its caller may not use. It looks as if it did not exist. */
  async admit(call: Call, fetch: FetchList): Promise<void> {
    const { item, offer } = await this.#look(call, fetch);
    if (item !== undefined && (offer === 'never' || offer === 'absent')) throw unknown(item, call);
  }

  /** Throws if a call uses what is hidden from its caller. Something that the server does not have at all is not hidden. */
  async rejectHidden(call: Call, fetch: FetchList): Promise<void> {
    const { item, offer } = await this.#look(call, fetch);
    if (item !== undefined && offer === 'never') throw unknown(item, call);
  }

  /** An error of the server about a name that it does not have, without names that it suggests: they may be hidden from the caller. */
  async withoutHints(call: Call, error: unknown, fetch: FetchList): Promise<unknown> {
    if (!this.isSelective || !McpError.is(error)) return error;
    const item = this.#itemOf(call);
    if (item === undefined) return error;
    const data = isObject(error.data) ? error.data : {};
    const isUnknown =
      item.kind === 'event'
        ? failureOf(error.number) === 'not_found'
        : data['kind'] === item.kind && data['field'] === undefined;
    return isUnknown || (await this.#hints({ item, call, error, fetch })) ? unknown(item, call) : error;
  }

  /** Whether an error about a tool, prompt or event that the server does not list names one that is hidden from the caller, such as `Available: a, b`. */
  async #hints({ item, call, error, fetch }: Hinting): Promise<boolean> {
    const kind = kinds[item.kind];
    if (kind === 'resources' || kind === 'templates') return false;
    const seen = await this.#lookUp(kind, { call, fetch }).catch(() => undefined);
    const all = seen?.all[kind];
    // An error about something that the server has is not a list of what it has.
    if (all === undefined || all.has(item.name)) return false;
    const words = `${error.message} ${JSON.stringify(error.data) ?? ''}`;
    // A server must not choose how long the search takes.
    if (words.length > MAX_SEARCHED) return true;
    for (const name of all) {
      const isNamed = name !== '' && words.includes(name);
      if (isNamed && !(seen?.accepted[kind]?.has(name) && (await this.#allows(kind, name, call))))
        return true;
    }
    return false;
  }

  /** Finds out whether the server has something for the caller of a call. Throws for a task if the caller has none there. */
  async #look(
    call: Call,
    fetch: FetchList,
  ): Promise<{ readonly item?: GatewayItem; readonly offer?: Offer }> {
    if (!this.isSelective) return {};
    if (call.method.startsWith('tasks/')) await this.#admitTasks(call, fetch);
    const item = this.#itemOf(call);
    if (item === undefined) return {};
    const wanted = { kind: kinds[item.kind], name: item.name };
    // Only pins and templates need lists: a rule decides by the name.
    if (this.#isStrict || wanted.kind === 'resources')
      return { item, offer: await this.offer(wanted, call, fetch) };
    return { item, offer: (await this.#allows(wanted.kind, wanted.name, call)) ? 'possible' : 'never' };
  }

  /** Whether anything can be hidden or held back. */
  get isSelective(): boolean {
    return this.#parts.allow !== undefined || this.#isStrict;
  }

  get #isStrict(): boolean {
    return this.#parts.pins?.isStrict === true;
  }

  /**
   * Says whether the server has something for a caller, by the part of its lists that the rule and the pins leave. Without `fetch`, only
   * lists that were fetched before count. An instance of a template is hidden with the templates that match it.
   */
  async offer({ kind, name }: WantedItem, call: Call, fetch?: FetchList): Promise<Offer> {
    if (!(await this.#allows(kind, name, call))) return 'never';
    const listed = await this.#lookUp(kind, { call, fetch });
    if (listed?.accepted[kind]?.has(name)) return 'listed';
    const isHeldBack = listed?.all[kind]?.has(name) === true;
    if (kind !== 'resources') return isHeldBack ? 'never' : this.#unlisted(listed);
    const seen = await this.#lookUp('templates', { call, fetch });
    const templates = matching(seen?.all.templates ?? new Map(), name);
    for (const template of templates)
      if (seen?.accepted.templates?.has(template) && (await this.#allows('templates', template, call)))
        return 'fits';
    if (isHeldBack || templates.length > 0) return 'never';
    return listed === undefined ? 'unknown' : this.#unlisted(seen);
  }

  /** A list that was never seen cannot say that something is missing in it. */
  #unlisted(seen: Seen | undefined): Offer {
    if (seen === undefined) return 'unknown';
    return this.#isStrict ? 'absent' : 'possible';
  }

  async #allows(kind: ListName, name: string, call: Call): Promise<boolean> {
    const { allow, server } = this.#parts;
    return allow === undefined || (await allow({ server, kind: lists[kind].one, name }, call.auth)) === true;
  }

  // An id does not tell its tool. Somebody who may use no tool of a server has no task there.
  async #admitTasks(call: Call, fetch: FetchList): Promise<void> {
    const seen = await this.#lookUp('tools', { call, fetch });
    for (const name of seen?.accepted.tools ?? []) if (await this.#allows('tools', name, call)) return;
    throw new McpError('invalid_params', `Unknown task: ${shorten(String(call.params['taskId']), 128)}`);
  }

  /** The part of a subscription that a caller may have. */
  async subscription(call: Call, wanted: SubscriptionFilter, fetch: FetchList): Promise<SubscriptionFilter> {
    if (!this.isSelective) return wanted;
    const { resourceSubscriptions: uris = [], taskIds, ...rest } = wanted;
    const offers = await Promise.all(
      uris.map((name) => this.offer({ kind: 'resources', name }, call, fetch)),
    );
    const left = uris.filter((_, at) => offers[at] !== 'never');
    const mayHaveTasks =
      taskIds !== undefined &&
      (await this.#admitTasks(call, fetch).then(
        () => true,
        () => false,
      ));
    return {
      ...rest,
      ...(left.length > 0 && { resourceSubscriptions: left }),
      ...(mayHaveTasks && { taskIds }),
    };
  }

  #itemOf({ method, params }: Call): GatewayItem | undefined {
    const { server } = this.#parts;
    const { name, uri, ref } = params;
    switch (method) {
      case 'tools/call':
        return { server, kind: 'tool', name: String(name) };
      case 'prompts/get':
        return { server, kind: 'prompt', name: String(name) };
      case 'events/poll':
      case 'events/stream':
      case 'events/subscribe':
        return { server, kind: 'event', name: String(name) };
      case 'resources/read':
        return { server, kind: 'resource', name: String(uri) };
      case 'completion/complete':
        if (!isObject(ref)) return undefined;
        return ref['type'] === 'ref/resource'
          ? { server, kind: 'template', name: String(ref['uri']) }
          : { server, kind: 'prompt', name: String(ref['name']) };
      default:
        return undefined;
    }
  }

  /** Fetches a list, compares it with the pins, and remembers it. `left` are the entries that are not held back. */
  async #compare(
    kind: ListName,
    call: Call,
    fetch: FetchList,
  ): Promise<{ readonly left: readonly JsonObject[]; readonly seen: Seen }> {
    const { pins, server, isSameForAll } = this.#parts;
    const generation = this.#generation;
    const items = await fetch(kind);
    let left = items;
    if (pins !== undefined) {
      while (await pins.isNew(server)) await this.#record(pins, fetch);
      left = await pins.check(server, kind, { items, isWhole: isSameForAll });
    }
    const all = listedKeys(kind, items);
    const accepted = left === items ? all : listedKeys(kind, left);
    const seen = { all: { [kind]: all }, accepted: { [kind]: accepted }, at: performance.now() };
    if (generation === this.#generation) this.#seenBy(call).set(kind, seen);
    return { left, seen };
  }

  /** The list as it was fetched last. With `fetch`, it is fetched if it is missing, or too old to hide anything by it. */
  async #lookUp(
    kind: ListName,
    { call, fetch }: { readonly call: Call; readonly fetch: FetchList | undefined },
  ): Promise<Seen | undefined> {
    const known = this.#seenBy(call).get(kind);
    const isFresh = known !== undefined && performance.now() - known.at < COMPARE_AGAIN_MS;
    if (fetch === undefined || isFresh || (known !== undefined && !this.isSelective)) return known;
    const { seen } = await this.#compare(kind, call, fetch);
    return seen;
  }

  #seenBy(call: Call): SeenLists {
    const who = this.#viewOf(call);
    const known = this.#seen.get(who) ?? new Map();
    if (who.length > MAX_VIEW_LENGTH) return known;
    this.#seen.set(who, known);
    return known;
  }

  /** Names those who see the same lists: a server may show others to another caller, and to one with other capabilities. */
  #viewOf(call: Call): string {
    const { capabilities, client } = call.peer;
    const who = this.#parts.isSameForAll ? '' : principalOf(call);
    return JSON.stringify([who, capabilities, client?.name ?? '']);
  }

  /** Pins everything that a new server offers, so that nothing can be added later without notice. */
  async #record(pins: Pins, fetch: FetchList): Promise<void> {
    const others = this.#recording;
    // It fails if its caller leaves. Then the next one records.
    if (others !== undefined) return others.catch(() => undefined);
    this.#recording = (async () => {
      const names = Object.keys(lists) as ListName[];
      const all = await Promise.all(names.map(async (kind) => [kind, await fetch(kind)] as const));
      await pins.record(this.#parts.server, {
        instructions: this.#offered,
        lists: Object.fromEntries(all) as Record<ListName, readonly JsonObject[]>,
      });
      this.#instructions = this.#offered;
    })().finally(() => {
      this.#recording = undefined;
    });
    return this.#recording;
  }
}

function unknown({ kind, name }: GatewayItem, call: Call): McpError {
  return kind === 'event' ? unknownEvent(name, dialectOfCall(call)) : notFound(kind, name);
}
