// The part of one server of a gateway that callers may see and use: the rule allows it, and the pins do not hold it back.

import type { JsonObject } from '../../jsonrpc/message.js';
import { isObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import { lists } from '../routing/lists.js';
import type { ListName } from '../routing/router.js';
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

/** Definitions that were compared are compared again after this time, so that a server cannot change them silently for long. */
const COMPARE_AGAIN_MS = 60_000;
const kinds: Readonly<Record<GatewayItem['kind'], ListName>> = {
  tool: 'tools',
  prompt: 'prompts',
  resource: 'resources',
  template: 'templates',
};

/** Decides what is seen and used of one server. */
export class Screen {
  readonly #parts: ScreenParts;
  /** The names that were compared and may be used, by list. */
  readonly #accepted = new Map<ListName, { readonly names: ReadonlySet<string>; readonly at: number }>();
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

  /** Forgets what was compared: the server may come back as another one, or its lists have changed. */
  forget(): void {
    this.#accepted.clear();
  }

  /** The entries of a list that a caller may see. */
  async select(
    kind: ListName,
    items: readonly JsonObject[],
    { call, fetch }: { readonly call: Call; readonly fetch: FetchList },
  ): Promise<readonly JsonObject[]> {
    const pinned = await this.#compare(kind, items, fetch);
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
    const item = this.#itemOf(call);
    if (item === undefined) return;
    const { allow, pins } = this.#parts;
    if (allow !== undefined && (await allow(item, call.auth)) !== true) throw unknown(item);
    if (pins?.isStrict !== true) return;
    const isPinned = await this.#isAccepted(kinds[item.kind], item.name, fetch);
    // The instance of a template has a URI that no list has.
    if (isPinned || (item.kind === 'resource' && (await this.#hasTemplates(fetch)))) return;
    throw unknown(item);
  }

  /** The part of a subscription that a caller may have. */
  async subscription(call: Call, wanted: SubscriptionFilter): Promise<SubscriptionFilter> {
    const { allow, server } = this.#parts;
    const { resourceSubscriptions: uris = [], ...rest } = wanted;
    const allowed = await Promise.all(
      uris.map((name) => allow?.({ server, kind: 'resource', name }, call.auth) ?? true),
    );
    const left = uris.filter((_, at) => allowed[at] === true);
    return left.length > 0 ? { ...rest, resourceSubscriptions: left } : rest;
  }

  #itemOf({ method, params }: Call): GatewayItem | undefined {
    const { server } = this.#parts;
    const { name, uri, ref } = params;
    switch (method) {
      case 'tools/call':
        return { server, kind: 'tool', name: String(name) };
      case 'prompts/get':
        return { server, kind: 'prompt', name: String(name) };
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

  async #compare(
    kind: ListName,
    items: readonly JsonObject[],
    fetch: FetchList,
  ): Promise<readonly JsonObject[]> {
    const { pins, server, isSameForAll } = this.#parts;
    if (pins === undefined) return items;
    if (await pins.isNew(server)) await this.#record(pins, fetch);
    const left = await pins.check(server, kind, { items, isWhole: isSameForAll });
    const { key } = lists[kind];
    this.#accepted.set(kind, {
      names: new Set(left.map((item) => item[key] as string)),
      at: performance.now(),
    });
    return left;
  }

  /** Pins everything that a new server offers, so that nothing can be added later without notice. */
  #record(pins: Pins, fetch: FetchList): Promise<void> {
    this.#recording ??= (async () => {
      const [tools, prompts, resources, templates] = await Promise.all(
        (['tools', 'prompts', 'resources', 'templates'] as const).map(fetch),
      );
      const all = { tools, prompts, resources, templates } as Record<ListName, readonly JsonObject[]>;
      await pins.record(this.#parts.server, { instructions: this.#offered, lists: all });
      this.#instructions = this.#offered;
    })().finally(() => {
      this.#recording = undefined;
    });
    return this.#recording;
  }

  async #isAccepted(kind: ListName, name: string, fetch: FetchList): Promise<boolean> {
    return (await this.#acceptedOf(kind, fetch)).has(name);
  }

  async #hasTemplates(fetch: FetchList): Promise<boolean> {
    return (await this.#acceptedOf('templates', fetch)).size > 0;
  }

  async #acceptedOf(kind: ListName, fetch: FetchList): Promise<ReadonlySet<string>> {
    const known = this.#accepted.get(kind);
    if (known !== undefined && performance.now() - known.at < COMPARE_AGAIN_MS) return known.names;
    await this.#compare(kind, await fetch(kind), fetch);
    return this.#accepted.get(kind)?.names ?? new Set();
  }
}

function unknown({ kind, name }: GatewayItem): McpError {
  const label = shorten(name, 128);
  return kind === 'resource'
    ? new McpError('resource_not_found', `Resource not found: ${label}`, { data: { uri: name } })
    : new McpError('invalid_params', `Unknown ${kind}: ${label}`);
}
