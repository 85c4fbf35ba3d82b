// Serves `prompts/get`.

import type { Call, Outcome } from '../../protocol/call.js';
import type { DirectDispatch } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';
import { faultData } from '../../protocol/not-found.js';
import { INVALID_ARGUMENTS } from '../../protocol/tables/failure-texts.js';
import { explanationLater } from '../../schema/explain-later.js';
import { type InputRequired, isInputRequired } from '../asking/input-required.js';
import { type CompiledPrompt, type GetPromptResult, toPromptResult } from '../catalog/prompts.js';
import type { HandlerRun } from '../context/handler-run.js';
import { withToolErrors } from '../results/tool-error.js';
import type { MethodParts } from './run-handler.js';

/** Makes the function that answers `prompts/get`. */
export function promptGets({ registry, entrance, runner }: MethodParts): DirectDispatch {
  const promptRun: HandlerRun<CompiledPrompt, GetPromptResult | InputRequired> = {
    target: ({ params: { name, arguments: args = {} } }) => ({ name: name as string, args }),
    async run(prompt, ctx, call) {
      const args = await readPromptArguments(prompt, call);
      await entrance.promptInput(call, prompt, args);
      const value = await withToolErrors(prompt.run(args, ctx));
      return isInputRequired(value) ? value : toPromptResult(value, prompt.listed.description);
    },
    finish: registry.complete,
  };

  return async function getPrompt(call): Promise<Outcome> {
    const { name } = call.params;
    if (typeof name !== 'string') throw new McpError('invalid_params', 'params.name must be a string');
    const found = entrance.prompt(call, name);
    const prompt = found instanceof Promise ? await found : found;
    return runner.runMounted(call, prompt.mounted, promptRun, prompt);
  };
}

async function readPromptArguments(prompt: CompiledPrompt, { params }: Call): Promise<never> {
  const { arguments: args = {} } = params;
  const checked = await prompt.args.validate(args);
  if (checked.ok) return checked.value as never;
  const { text, field } = await explanationLater(checked.issues, prompt.args, args);
  throw new McpError('invalid_params', `${INVALID_ARGUMENTS}prompt ${prompt.name}. ${text}`, {
    data: faultData('prompt', prompt.name, field),
  });
}
