// Finds the definitions that calls name, for callers that may use them.

import type { Call } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import type { McpError } from '../../protocol/errors.js';
import { notFound } from '../../protocol/not-found.js';
import { closestName } from '../../schema/explain/closest-name.js';
import type { CompiledAccess, ServerAccess } from '../access/access.js';
import { type Gate, scopesError, type Verdict } from '../access/gate.js';
import type { Guarded } from '../access/views.js';
import type { Catalog } from '../catalog/catalog.js';
import type { CompiledMethod } from '../catalog/compile.js';
import type { CompiledPrompt } from '../catalog/prompts.js';
import type { Registry, ResourceMatch } from '../catalog/registry.js';
import type { CompiledTemplate } from '../catalog/resources.js';
import type { CompiledTool } from '../catalog/tools.js';
import { ToolError } from '../results/tool-error.js';
import type { TaskRules } from './task-host.js';

/** The parts of an `Entrance`. */
export interface EntranceParts {
  readonly registry: Registry;
  readonly gate: Gate;
  readonly access: ServerAccess;
}

/** A prompt or a template, as completion sees it. */
export type Completing = Pick<CompiledPrompt | CompiledTemplate, 'complete' | 'mounted'>;

/**
 * Finds definitions for callers. A definition that a caller may not use is as unknown to that caller as one that does not exist; if the
 * caller only lacks scopes, the error is a challenge that names them.
 */
export class Entrance {
  readonly #registry: Registry;
  readonly #gate: Gate;
  readonly #access: ServerAccess;

  constructor({ registry, gate, access }: EntranceParts) {
    this.#registry = registry;
    this.#gate = gate;
    this.#access = access;
  }

  /** Whether nothing has to be asked before the caller uses the definition, whatever the input. */
  isOpen(caller: Caller, { access }: Guarded): boolean {
    return access === undefined || this.#gate.admits(caller, access);
  }

  /** The tool with a name, before its arguments are checked. */
  async tool(caller: Caller, name: string): Promise<CompiledTool> {
    const tool = await this.#version(caller, this.#registry.tools.get(name));
    if (tool === undefined) throw await this.#unknown('tool', name, caller);
    await this.#enter(caller, tool.access, () => this.#unknown('tool', name, caller));
    return tool;
  }

  async #version(caller: Caller, tool: CompiledTool | undefined): Promise<CompiledTool | undefined> {
    return tool?.versions === undefined ? tool : tool.versions.all[await tool.versions.choose(caller)];
  }

  /** Checks a caller again, with the arguments of the tool. */
  async toolInput(caller: Caller, { name, access }: CompiledTool, input: unknown): Promise<void> {
    if (access !== undefined && !this.#gate.admits(caller, access))
      await this.#enter(caller, access, () => this.#unknown('tool', name, caller), input);
  }

  /** The prompt with a name, before its arguments are checked. */
  prompt(caller: Caller, name: string): CompiledPrompt | Promise<CompiledPrompt> {
    const prompt = this.#registry.prompts.get(name);
    return prompt !== undefined && this.isOpen(caller, prompt) ? prompt : this.#guardedPrompt(caller, name);
  }

  async #guardedPrompt(caller: Caller, name: string): Promise<CompiledPrompt> {
    const prompt = this.#registry.prompts.get(name);
    if (prompt === undefined) throw await this.#unknown('prompt', name, caller);
    await this.#enter(caller, prompt.access, () => this.#unknown('prompt', name, caller));
    return prompt;
  }

  /** Checks a caller again, with the arguments of the prompt. */
  async promptInput(caller: Caller, { name, access }: CompiledPrompt, input: unknown): Promise<void> {
    if (access !== undefined)
      await this.#enter(caller, access, () => this.#unknown('prompt', name, caller), input);
  }

  /** The resource, or the first template, that has a URI. It alone decides: no later template is tried for a caller that it refuses. */
  resource(caller: Caller, uri: string): ResourceMatch | Promise<ResourceMatch> {
    const match = this.#registry.findResource(uri);
    if (match === undefined) throw notFound('resource', uri);
    return this.isOpen(caller, match.source) ? match : this.#guardedResource(caller, match);
  }

  async #guardedResource(caller: Caller, match: ResourceMatch): Promise<ResourceMatch> {
    const { uri, source, values } = match;
    await this.#enter(caller, source.access, () => notFound('resource', uri));
    await this.#enter(caller, source.access, () => notFound('resource', uri), values);
    return match;
  }

  /** The completers of a prompt or of a template; undefined if it does not exist for the caller. */
  async completers(
    caller: Caller,
    kind: 'prompts' | 'templates',
    name: string,
  ): Promise<Completing | undefined> {
    const source = this.#registry[kind].get(name);
    if (source?.access === undefined) return source;
    const verdict = await this.#gate.judge(caller, source.access);
    if (verdict === 'needs_scopes') throw scopesError(caller, source.access.scopes);
    return verdict === 'allowed' ? source : undefined;
  }

  /** Checks the caller of a custom method: first without `params`, then with them. */
  async method(call: Call, { access }: CompiledMethod, params?: unknown): Promise<void> {
    if (access !== undefined) await this.#enter(call, access, () => notFound('method', call.method), params);
  }

  /** The rules for tasks: a caller sees a task while it may use the tool, whatever the arguments of the task. */
  readonly tasks: TaskRules = {
    areGuarded: () => this.#registry.tools.knowsRules || this.#ruleOfUnknownTool('') !== undefined,
    sees: async (caller, name) => {
      const known = this.#registry.tools.get(name);
      const user = (await known?.versions?.ownerOfTasks(caller)) ?? caller;
      const tool = await this.#version(user, known);
      const access =
        tool === undefined
          ? (this.#registry.tools.accessOf(name) ?? this.#ruleOfUnknownTool(name))
          : tool.access;
      if (access === undefined) return true;
      const verdict = await this.#gate.judge(user, access);
      if (verdict === 'needs_scopes') throw scopesError(caller, access.scopes);
      return verdict === 'allowed';
    },
  };

  // Another process may have the tool. Only the rules of the server are known here.
  #ruleOfUnknownTool(name: string): CompiledAccess | undefined {
    return this.#access.of({ kind: 'tool', name }, {});
  }

  /** Whether reading a resource may depend on the caller. */
  get guardsResources(): boolean {
    return this.#registry.guardsResources;
  }

  /** Whether a caller may be told that a resource has changed. */
  mayFollow(caller: Caller, uri: string): boolean | Promise<boolean> {
    if (!this.guardsResources) return true;
    const verdict = this.#judgeUpdates(caller, uri);
    return verdict instanceof Promise ? verdict.then((it) => it === 'allowed') : verdict === 'allowed';
  }

  // Every caller may follow a URI that no resource has.
  #judgeUpdates(caller: Caller, uri: string): Verdict | Promise<Verdict> {
    const match = this.#registry.findResource(uri);
    const access = match?.source.access;
    return access === undefined ? 'allowed' : this.#gate.judgeUse(caller, access, match?.values);
  }

  /**
   * The URIs that a caller may subscribe to. One that `allow` refuses is among them, as one that no resource has: its changes are not
   * reported. Throws the challenge if nothing else is left, because the caller lacks scopes.
   */
  async subscribable(
    caller: Caller,
    uris: readonly string[],
    { isOnly }: { readonly isOnly: boolean },
  ): Promise<string[]> {
    const verdicts = await Promise.all(uris.map((uri) => this.#judgeUpdates(caller, uri)));
    const granted = uris.filter((_, at) => verdicts[at] !== 'needs_scopes');
    if (granted.length > 0 || !isOnly) return granted;
    const scopes = uris.flatMap((uri) => this.#registry.findResource(uri)?.source.access?.scopes ?? []);
    throw scopesError(caller, [...new Set(scopes)]);
  }

  /** Whether a caller may be told that a definition was added or removed. An unknown definition is one of another process. */
  seesChange(
    caller: Caller,
    kind: 'tools' | 'prompts' | 'resources' | 'events',
    name: string,
  ): boolean | Promise<boolean> {
    const access = this.#registry.accessOf(kind, name);
    return access === undefined || this.#gate.sees(caller, access);
  }

  async #enter(
    caller: Caller,
    access: CompiledAccess | undefined,
    unknown: () => McpError | Promise<McpError>,
    input?: unknown,
  ): Promise<void> {
    if (access === undefined) return;
    const verdict = await this.#gate.judge(caller, access, input);
    if (verdict === 'needs_scopes') throw scopesError(caller, access.scopes);
    if (verdict === 'denied') throw new ToolError(access.policy?.denial ?? '');
    if (verdict === 'unknown') throw await unknown();
  }

  #unknown(kind: 'tool' | 'prompt', name: string, caller: Caller): Promise<McpError> {
    return unknownName(kind, name, { catalog: this.#registry[`${kind}s`], caller });
  }
}

/**
 * The error for a name that is not defined, or not for this caller, with the name that was probably meant. Both errors are the same,
 * and neither suggests a name that the caller does not see.
 */
async function unknownName(
  kind: 'tool' | 'prompt',
  name: string,
  { catalog, caller }: { readonly catalog: Pick<Catalog<never>, 'names'>; readonly caller: Caller },
): Promise<McpError> {
  const names = await catalog.names(caller);
  const closest = closestName(
    name,
    names.filter((other) => other !== name),
  );
  const hint = closest === undefined ? '' : `. Did you mean "${closest}"?`;
  return notFound(kind, name, hint);
}
