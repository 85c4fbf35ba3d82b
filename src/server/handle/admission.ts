// Decides whether the handler of a call would run, for middleware that answers in its place. Loaded only for such middleware.

import { isObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import type { ServerResults } from '../../state/hosted-middleware.js';
import type { CompiledPrompt } from '../catalog/prompts.js';
import type { CompiledResource, CompiledTemplate } from '../catalog/resources.js';
import { type CompiledTool, readArguments } from '../catalog/tools.js';
import type { HandlerHome } from '../context/handler-run.js';
import type { MethodParts } from './run-handler.js';

/** The parts of the server that decide whether a handler would run. */
export interface AdmissionParts extends MethodParts {
  /** Whether the server has the option `user`, which may refuse callers, too. */
  readonly hasUser: boolean;
}

type Source = CompiledTool | CompiledPrompt | CompiledResource | CompiledTemplate;

/** The server that a mounted definition belongs to. It may have a user of its own. */
function homeOf(source: Source | undefined): HandlerHome | undefined {
  if (source === undefined) return undefined;
  return 'handler' in source ? source.handler.home : source.mounted?.home;
}

/** Makes the function that decides whether the handler of a call would run now. It decides anew for each call, as the rules do. */
export function admissions({
  registry,
  entrance,
  runner,
  hasUser,
}: AdmissionParts): ServerResults['admission'] {
  return function admission(call) {
    const source = sourceOf(call);
    const needsUser = hasUser || homeOf(source)?.isPrepared === false;
    return !needsUser && (source === undefined || entrance.isOpen(call, source)) ? '' : decide(call);
  };

  // An error of a rule is a refusal, which the caller gets from the call itself.
  async function decide(call: Call): Promise<string | undefined> {
    try {
      if (!(await mayRun(call))) return undefined;
      const { user } = await runner.prepare(call, homeOf(sourceOf(call)));
      return user === undefined ? '' : JSON.stringify(user);
    } catch {
      return undefined;
    }
  }

  // A definition that the server does not have is one of its middleware, and has no rules.
  function sourceOf({ method, params }: Call): Source | undefined {
    if (method === 'tools/call') return registry.tools.get(String(params['name']));
    if (method === 'prompts/get') return registry.prompts.get(String(params['name']));
    if (method === 'resources/read') return registry.findResource(String(params['uri']))?.source;
    const { ref } = params;
    if (method !== 'completion/complete' || !isObject(ref)) return undefined;
    return ref['type'] === 'ref/prompt'
      ? registry.prompts.get(String(ref['name']))
      : registry.templates.get(String(ref['uri']));
  }

  async function mayRun(call: Call): Promise<boolean> {
    const { method, params } = call;
    if (sourceOf(call) === undefined) return true;
    const name = String(params['name']);
    switch (method) {
      case 'tools/call':
        return mayCall(call, name);
      case 'prompts/get':
        return mayGet(call, name);
      case 'resources/read':
        await entrance.resource(call, String(params['uri']));
        return true;
      default:
        return mayComplete(call);
    }
  }

  async function mayCall(call: Call, name: string): Promise<boolean> {
    const tool = await entrance.tool(call, name);
    const input = await readArguments(tool, call);
    if (!input.ok) return false;
    await entrance.toolInput(call, tool, input.value);
    return (await tool.access?.policy?.allows(call, input.value)) !== false;
  }

  async function mayGet(call: Call, name: string): Promise<boolean> {
    const prompt = await entrance.prompt(call, name);
    const input = await prompt.args.validate(call.params['arguments'] ?? {});
    if (input.ok) await entrance.promptInput(call, prompt, input.value);
    return input.ok;
  }

  async function mayComplete(call: Call): Promise<boolean> {
    const { type, name, uri } = call.params['ref'] as Record<string, unknown>;
    const found =
      type === 'ref/prompt'
        ? entrance.completers(call, 'prompts', String(name))
        : entrance.completers(call, 'templates', String(uri));
    return (await found) !== undefined;
  }
}
