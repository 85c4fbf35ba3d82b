// The definitions of a mounted server, under the names that clients see.

import { isIterable, type iterate } from '../../async/iterate.js';
import { isObject } from '../../jsonrpc/message.js';
import { compose, type Middleware } from '../../protocol/call.js';
import { parseTemplate } from '../../protocol/uri-template/template.js';
import type { GuardedOptions, ServerAccess } from '../access/access.js';
import { isInputRequired } from '../asking/input-required.js';
import { DefinitionError } from '../catalog/compile.js';
import { type CompiledEvent, checkEventName, deliveryIn } from '../catalog/events.js';
import { type CompiledPrompt, toPromptResult } from '../catalog/prompts.js';
import {
  type CompiledResource,
  type CompiledTemplate,
  type SubscriptionHooks,
  shapeOf,
} from '../catalog/resources.js';
import { type ToolRunResult, withPolicy } from '../catalog/run-tool.js';
import { type CompiledTool, changeTool, finishOf } from '../catalog/tools.js';
import type { CallContext } from '../context/call-context.js';
import type { Mounted } from '../context/handler-run.js';
import { toContents } from '../results/contents.js';
import type { ToolOutcomes } from '../results/tool-outcomes.js';
import { combineAccess } from './combined-access.js';
import type { ServerInternals } from './internals.js';
import { mountMeta, type UriRewriter, type UriRule } from './uris.js';

/** The parts of the outer server, and of the mount, that definitions are renamed with. */
export interface MountParts {
  readonly inner: ServerInternals;
  readonly access: ServerAccess;
  readonly outcomes: ToolOutcomes;
  /** Puts the middleware of the mounted server around that of a definition. Undefined if there is none. */
  readonly wrap: (inside: Middleware | undefined) => Middleware | undefined;
  readonly uris: UriRule;
  readonly rewrite: UriRewriter;
  /** Whether the mounted server has resources that its results may link to. */
  readonly hasResources: () => boolean;
  /** Whether a view hides the resource of a URI of clients. Undefined without a view. */
  readonly isHidden: ((uri: string) => boolean) | undefined;
  /** Whether the outer server delivers events to webhooks. */
  readonly hasWebhooks: boolean;
  /** The options of the definition that the outer server's rules follow from. */
  readonly options: GuardedOptions;
}

/** A tool under another name. */
export function mountTool(name: string, tool: CompiledTool, parts: MountParts): CompiledTool {
  return changeTool(tool, (version) => mountVersion(name, version, parts));
}

function mountVersion(name: string, tool: CompiledTool, parts: MountParts): CompiledTool {
  const { tags, annotations } = parts.options;
  const own = parts.access.of(
    { kind: 'tool', name },
    { ...(tags && { tags }), ...(annotations && { annotations }) },
  );
  const { handler } = tool;
  const { _meta } = tool.listed;
  const added = name.endsWith(tool.name) ? name.slice(0, -tool.name.length) : '';
  const through = parts.wrap(chain(parts.inner.useOf(tool)));
  const run = tool.isOutermost ? handler.run : linking(handler.run, parts);
  return {
    ...tool,
    name,
    listed: { ...tool.listed, name, ...(_meta && { _meta: mountMeta(_meta, parts.uris, added) }) },
    access: combineAccess({ kind: 'tool', name }, own, tool.access),
    handler: {
      target: (call) => ({ ...handler.target(call), name }),
      run: own?.policy === undefined ? run : withPolicy(own.policy, run, name),
      finish: finishOf(tool, parts.outcomes),
      // A tool that is mounted in the mounted server keeps its home.
      home: tool.isOutermost ? undefined : (handler.home ?? parts.inner.home),
    },
    use: through && [through],
  };
}

type RunTool = CompiledTool['handler']['run'];

/** Renames the URIs in the results of a tool. */
function linking(run: RunTool, { rewrite, hasResources }: MountParts): RunTool {
  const renamed = (result: ToolRunResult): ToolRunResult => {
    if (isInputRequired(result) || !hasResources()) return result;
    const content = result.content.map(rewrite.block);
    return content.every((block, at) => block === result.content[at]) ? result : { ...result, content };
  };
  return function runMountedTool(input, ctx, call) {
    const result = run(input, ctx, call);
    return result instanceof Promise ? result.then(renamed) : renamed(result);
  };
}

/** A prompt under another name. */
export function mountPrompt(name: string, prompt: CompiledPrompt, parts: MountParts): CompiledPrompt {
  const { tags } = parts.options;
  const own = parts.access.of({ kind: 'prompt', name }, { ...(tags && { tags }) });
  return {
    ...prompt,
    name,
    listed: { ...prompt.listed, name },
    access: combineAccess({ kind: 'prompt', name }, own, prompt.access),
    mounted: mountedIn(prompt.mounted, parts),
    async run(args, ctx) {
      const value = await prompt.run(args, ctx);
      if (isInputRequired(value)) return value;
      const result = toPromptResult(value, undefined);
      const messages = result.messages.map((message) => ({
        ...message,
        content: parts.rewrite.block(message.content),
      }));
      return { ...result, messages };
    },
  };
}

/** A type of events under another name. The outer server keeps its events as its own. */
export function mountEvent(name: string, event: CompiledEvent, parts: MountParts): CompiledEvent {
  const { inner, wrap, hasWebhooks } = parts;
  const { tags } = parts.options;
  const own = parts.access.of({ kind: 'event', name }, { ...(tags && { tags }) });
  try {
    checkEventName(name);
    return {
      ...event,
      name,
      // The server that it was mounted from tells its moments.
      schedule: undefined,
      listed: { ...event.listed, name, delivery: deliveryIn(event, hasWebhooks) },
      access: combineAccess({ kind: 'event', name }, own, event.access),
      mounted: {
        emit: (data, options) => inner.emit(event.name, data, options),
        through: wrap(event.mounted?.through),
      },
    };
  } catch (error) {
    throw new DefinitionError([`event "${name}": ${(error as Error).message}`]);
  }
}

/** A resource or a template under another URI. */
export function mountResource(
  uri: string,
  source: CompiledResource | CompiledTemplate,
  parts: MountParts,
): CompiledResource | CompiledTemplate {
  const { tags } = parts.options;
  const { uris, rewrite } = parts;
  const own = parts.access.of({ kind: 'resource', name: uri }, { ...(tags && { tags }) });
  const access = combineAccess({ kind: 'resource', name: uri }, own, source.access);
  const { listed } = source;
  const renamed = {
    ...source,
    uri,
    access,
    // A cache must not give the contents to callers that the outer server's rules refuse.
    cacheScope: access === undefined ? source.cacheScope : ('private' as const),
    mounted: mountedIn(source.mounted, parts),
    hooks: source.hooks && mountHooks(source.hooks, parts),
    async read(values: Parameters<typeof source.read>[0], ctx: Parameters<typeof source.read>[1]) {
      const inner = uris.inner(ctx.uri);
      const value = await source.read(
        values,
        Object.assign(ctx as object as CallContext<never, never>, { uri: inner }),
      );
      if (isInputRequired(value)) return value;
      return toContents(value, { uri: inner, mimeType: source.mimeType })?.map(rewrite.contents);
    },
  };
  const name = listed.name === source.uri ? uri : listed.name;
  if (!('template' in source)) return { ...renamed, listed: { ...listed, uri, name } } as CompiledResource;
  return {
    ...(renamed as CompiledTemplate),
    template: parseTemplate(uri),
    isHidden: hiddenFor(source, parts),
    shape: shapeOf(uri),
    listed: { ...source.listed, uriTemplate: uri, name },
    list: source.list && mountList(source.list, uris),
  };
}

// A URI may be hidden at several levels.
function hiddenFor(
  { isHidden }: CompiledTemplate,
  { uris, isHidden: hides }: MountParts,
): CompiledTemplate['isHidden'] {
  if (isHidden === undefined) return hides;
  return (uri) => hides?.(uri) === true || isHidden(uris.inner(uri));
}

// A definition that is mounted in the mounted server keeps its home.
function mountedIn(mounted: Mounted | undefined, { inner, wrap }: MountParts): Mounted {
  return { home: mounted?.home ?? inner.home, through: wrap(mounted?.through) };
}

function chain(use: readonly Middleware[]): Middleware | undefined {
  return use.length === 0 ? undefined : (call, next) => compose(use, next)(call);
}

type List = NonNullable<CompiledTemplate['list']>;

/** Renames the URIs that a template lists. */
function mountList(list: List, { outer }: UriRule): List {
  const rename = (entry: unknown): unknown => {
    if (typeof entry === 'string') return outer(entry);
    return isObject(entry) && typeof entry['uri'] === 'string'
      ? { ...entry, uri: outer(entry['uri']) }
      : entry;
  };
  return async function listMounted(ctx, request) {
    const value: unknown = await list(ctx, request);
    if (Array.isArray(value)) return value.map(rename);
    if (isObject(value) && Array.isArray(value['entries']))
      return { ...value, entries: value['entries'].map(rename) };
    return isIterable(value) ? renameEach(value) : value;
  };

  async function* renameEach(items: Parameters<typeof iterate>[0]): AsyncGenerator<unknown> {
    for await (const item of items as AsyncIterable<unknown>) yield rename(item);
  }
}

function mountHooks(
  { onSubscribe, onUnsubscribe }: SubscriptionHooks,
  { inner, uris }: MountParts,
): SubscriptionHooks {
  const mount = (hook: SubscriptionHooks['onSubscribe']): SubscriptionHooks['onSubscribe'] =>
    hook &&
    (async (values, ctx) => {
      const { changed, log } = inner;
      await hook(values, { ...ctx, uri: uris.inner(ctx.uri), changed, log, state: await inner.state() });
    });
  return { onSubscribe: mount(onSubscribe), onUnsubscribe: mount(onUnsubscribe) };
}
