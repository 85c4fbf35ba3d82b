// Changes definitions that are compiled already: those of a server that is mounted, and those that are about to be served.

import { compose, type Middleware } from '../../../protocol/call.js';
import { findParamHeaders } from '../../../protocol/encoding/param-headers.js';
import { TAGS } from '../../../protocol/tables/meta-keys.js';
import { type CompiledAccess, readServerAccess } from '../../access/access.js';
import type { ListedDescription } from '../../catalog/description.js';
import type { CompiledEvent } from '../../catalog/events.js';
import { type CompiledPrompt, listArguments } from '../../catalog/prompts.js';
import type { CompiledResource, CompiledTemplate } from '../../catalog/resources.js';
import { type ToolErrors, toolRunner } from '../../catalog/run-tool.js';
import { type CompiledTool, changeTool } from '../../catalog/tools.js';
import type { AccessTarget } from '../../define/access.js';
import type { Completer } from '../../define/definition.js';
import { combineAccess } from '../combined-access.js';
import { type ChangedArguments, changeArguments } from './arguments.js';
import type { DefinitionChange, EventChange, PromptChange, ResourceChange, ToolChange } from './changes.js';

/** Changes a tool. Throws a TypeError that describes a mistake in the change. */
export function reshapeTool(tool: CompiledTool, change: ToolChange, errors: ToolErrors): CompiledTool {
  return changeTool(tool, (version) => {
    const args = change.args && changeArguments(version.input, change.args);
    const input = args?.schema ?? version.input;
    const { paramHeaders } = findParamHeaders(input.json);
    return {
      ...version,
      listed: {
        ...version.listed,
        ...describe(version.listed, change),
        ...(args && { inputSchema: { ...input.json } }),
      },
      input,
      paramHeaders,
      options: withTags(version.options, change),
      access: withRule(version.access, { kind: 'tool', name: version.name }, change, errors),
      handler: {
        ...version.handler,
        run: change.run ? wrapRun(version, change.run, errors) : version.handler.run,
      },
      use: version.use && (args === undefined ? version.use : [args.enter, ...version.use, args.leave]),
    };
  });
}

/** Changes a prompt. Throws a TypeError that describes a mistake in the change. */
export function reshapePrompt(
  prompt: CompiledPrompt,
  change: PromptChange,
  errors: ToolErrors,
): CompiledPrompt {
  const args = change.args && changeArguments(prompt.args, change.args);
  const { run, mounted } = prompt;
  const { run: wrap } = change;
  return {
    ...prompt,
    ...(args && { args: args.schema, complete: changeCompleters(prompt.complete, args) }),
    listed: {
      ...prompt.listed,
      ...describe(prompt.listed, change),
      ...(args && { arguments: listArguments(args.schema.json) }),
    },
    options: withTags(prompt.options, change),
    access: withRule(prompt.access, { kind: 'prompt', name: prompt.name }, change, errors),
    ...(wrap && {
      run: (input: unknown, ctx: Parameters<typeof run>[1]) =>
        wrap(
          input as object as Record<string, unknown>,
          ctx,
          async (other = input as never) => run(other, ctx) as never,
        ),
    }),
    ...(mounted && { mounted: { ...mounted, through: passing(args, mounted.through) } }),
  };
}

/** Changes a resource or a template. Throws a TypeError that describes a mistake in the change. */
export function reshapeResource<T extends CompiledResource | CompiledTemplate>(
  source: T,
  change: ResourceChange,
  errors: ToolErrors,
): T {
  const access = withRule(source.access, { kind: 'resource', name: source.uri }, change, errors);
  const { read } = source;
  const { read: wrap } = change;
  return {
    ...source,
    listed: {
      ...source.listed,
      ...describe(source.listed, change),
      ...(change.name !== undefined && { name: change.name }),
    },
    options: withTags(source.options, change),
    access,
    // A cache must not give the contents to callers that the rules refuse.
    cacheScope: access === undefined ? source.cacheScope : 'private',
    ...(wrap && {
      read: (values: Parameters<typeof read>[0], ctx: Parameters<typeof read>[1]) =>
        wrap(values, ctx, async () => read(values, ctx)),
    }),
  };
}

/** Changes a type of events. */
export function reshapeEvent(event: CompiledEvent, change: EventChange, errors: ToolErrors): CompiledEvent {
  const { description, tags } = change;
  return {
    ...event,
    listed: {
      ...event.listed,
      ...describe(event.listed, { ...(description !== undefined && { description }), ...(tags && { tags }) }),
    },
    options: withTags(event.options, change),
    access: withRule(event.access, { kind: 'event', name: event.name }, change, errors),
  };
}

/** The options that rules follow from, with the tags of a change. */
export function withTags<T extends { readonly tags?: readonly string[] }>(
  options: T,
  { tags }: DefinitionChange,
): T {
  return tags === undefined
    ? options
    : { ...options, tags: [...new Set([...(options.tags ?? []), ...tags])] };
}

function describe(listed: ListedDescription, change: DefinitionChange): ListedDescription {
  const { title, description } = change;
  const { tags } = withTags({ tags: (listed._meta?.[TAGS] ?? []) as readonly string[] }, change);
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(tags.length > 0 && { _meta: { ...listed._meta, [TAGS]: tags } }),
  };
}

function withRule(
  access: CompiledAccess | undefined,
  target: AccessTarget,
  { allow, scopes }: DefinitionChange,
  { log }: ToolErrors,
): CompiledAccess | undefined {
  const rule = readServerAccess(undefined, log).of(target, {
    ...(allow !== undefined && { allow }),
    ...(scopes !== undefined && { scopes }),
  });
  return rule === undefined ? access : combineAccess(access?.target ?? target, rule, access);
}

type RunTool = CompiledTool['handler']['run'];

function wrapRun(
  { name, output, handler }: CompiledTool,
  wrap: NonNullable<ToolChange['run']>,
  errors: ToolErrors,
): RunTool {
  return function runChangedTool(input, ctx, call) {
    const run = toolRunner(
      {
        name,
        output,
        run: (given, context) =>
          wrap(
            given as Record<string, unknown>,
            context,
            async (other = given as never) => handler.run(other, ctx, call) as never,
          ),
      },
      errors,
    );
    // The handler itself is traced.
    return (run as (...args: [...Parameters<RunTool>, isTraced: true]) => ReturnType<RunTool>)(
      input,
      ctx,
      call,
      true,
    );
  };
}

function changeCompleters(
  complete: ReadonlyMap<string, Completer>,
  { outerName, toInner }: ChangedArguments,
): Map<string, Completer> {
  const changed = new Map<string, Completer>();
  for (const [name, completer] of complete) {
    const outer = outerName(name);
    if (outer !== undefined)
      changed.set(outer, (prefix, filled, ctx) =>
        completer(prefix, toInner(filled) as Record<string, string>, ctx),
      );
  }
  return changed;
}

function passing(
  args: ChangedArguments | undefined,
  through: Middleware | undefined,
): Middleware | undefined {
  if (args === undefined || through === undefined) return through;
  return async function passChanged(call, next) {
    return compose([args.enter, through, args.leave], next)(call);
  };
}
