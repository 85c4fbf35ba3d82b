// Serves the methods that the program defines.

import type { DirectDispatch } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';
import { faultData } from '../../protocol/not-found.js';
import { explanationLater } from '../../schema/explain-later.js';
import type { CompiledMethod } from '../catalog/compile.js';
import { toMethodResult } from '../results/results.js';
import { withToolErrors } from '../results/tool-error.js';
import type { MethodParts } from './run-handler.js';

/** Makes the function that answers a custom method. */
export function customMethod(
  method: CompiledMethod,
  { registry, entrance, runner }: MethodParts,
): DirectDispatch {
  const { params: schema, run } = method;
  return async function callCustom(call) {
    await entrance.method(call, method);
    const checked = schema && (await schema.validate(withoutMeta(call.params)));
    if (checked?.ok === false && schema) {
      const { text, field } = await explanationLater(checked.issues, schema, call.params);
      throw new McpError('invalid_params', `Invalid params. ${text}`, {
        data: faultData('method', call.method, field),
      });
    }
    const params = checked?.ok ? checked.value : call.params;
    await entrance.method(call, method, params);
    const work = runner.withContext(call, (ctx) => withToolErrors(run(params, ctx)), method.mounted?.home);
    return registry.complete(toMethodResult(await work));
  };
}

function withoutMeta({ _meta, ...params }: Record<string, unknown>): Record<string, unknown> {
  return params;
}
