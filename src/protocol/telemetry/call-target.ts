import type { Call } from '../call.js';

/** The name of the tool or prompt that a call is for, or the URI of the resource; undefined for other calls. */
export function targetOf({ method, params }: Pick<Call, 'method' | 'params'>): string | undefined {
  const target = method === 'resources/read' ? params['uri'] : params['name'];
  const isNamed = method === 'tools/call' || method === 'prompts/get' || method === 'resources/read';
  return isNamed && typeof target === 'string' ? target : undefined;
}
