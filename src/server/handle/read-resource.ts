// Reads resources: for clients, for other handlers, and for subscribers.

import type { Call } from '../../protocol/call.js';
import type { DirectDispatch } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';
import type { ResourceContents } from '../../protocol/model/content.js';
import type { CacheScope } from '../../protocol/model/model.js';
import { notFound } from '../../protocol/not-found.js';
import { readEvents } from '../../protocol/telemetry/tracing.js';
import { type InputRequired, isInputRequired } from '../asking/input-required.js';
import type { ResourceMatch } from '../catalog/registry.js';
import type { CallContext, ContextParts, NestedCall } from '../context/call-context.js';
import type { HandlerRun } from '../context/handler-run.js';
import { toContents } from '../results/contents.js';
import { withToolErrors } from '../results/tool-error.js';
import type { MethodParts } from './run-handler.js';

/** The functions that read resources. */
export interface ResourceReads {
  /** Answers `resources/read`. */
  readonly readResource: DirectDispatch;
  /** Reads a resource from inside another handler. */
  readonly readNested: ContextParts['read'];
  /** Reads a resource for a subscriber. Rejects if the caller cannot read it. */
  readonly readForSubscriber: (call: Call, match: ResourceMatch) => Promise<unknown>;
}

/** The result of `resources/read`. */
interface ReadResourceResult {
  readonly contents: readonly ResourceContents[];
  readonly ttlMs: number;
  readonly cacheScope: CacheScope;
}

/** Makes the functions that read resources. */
export function resourceReads({ registry, entrance, runner }: MethodParts): ResourceReads {
  const resourceRun: HandlerRun<ResourceMatch, ReadResourceResult | InputRequired> = {
    target: ({ params: { uri } }) => ({ name: uri as string, args: undefined }),
    run: (match, ctx) => withToolErrors(readMatch(match, ctx)),
    finish: registry.complete,
  };

  async function readNested(
    { call, run, inputs }: NestedCall,
    uri: string,
  ): Promise<readonly ResourceContents[]> {
    const match = await entrance.resource(call, uri);
    const work = (ctx: CallContext<never, never>) => withToolErrors(readMatch(match, ctx));
    const home = match.source.mounted?.home;
    const result = await runner.runNested(call, run, work, home === undefined ? { inputs } : { home });
    if (isInputRequired(result))
      throw new TypeError(
        `The resource "${uri}" returned inputRequired, which ctx.read does not support. Ask with ctx.elicit or ctx.ask in its reader.`,
      );
    return result.contents;
  }

  return {
    async readResource(call) {
      const { uri } = call.params;
      if (typeof uri !== 'string') throw new McpError('invalid_params', 'params.uri must be a string');
      const found = entrance.resource(call, uri);
      const match = found instanceof Promise ? await found : found;
      return runner.runMounted(call, match.source.mounted, resourceRun, match);
    },
    readNested,
    readForSubscriber: (call, match) =>
      runner.withContext(call, (ctx) => readMatch(match, ctx), match.source.mounted?.home),
  };
}

function readMatch(
  match: ResourceMatch,
  ctx: CallContext<never, never>,
): Promise<ReadResourceResult | InputRequired> {
  return readEvents?.hasSubscribers
    ? readEvents.tracePromise(() => read(match, ctx), { uri: match.uri })
    : read(match, ctx);
}

async function read(
  { uri, source, values }: ResourceMatch,
  ctx: CallContext<never, never>,
): Promise<ReadResourceResult | InputRequired> {
  const value = await source.read(values, Object.assign(ctx, { uri }));
  if (isInputRequired(value)) return value;
  const contents = toContents(value, { uri, mimeType: source.mimeType });
  if (contents === undefined) throw notFound('resource', uri);
  return { contents, ttlMs: source.ttlMs ?? 0, cacheScope: source.cacheScope };
}
