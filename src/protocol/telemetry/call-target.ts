import type { Call } from '../call.js';

/** The name of the tool, prompt or type of events that a call is for, or the URI of the resource; undefined for other calls. */
export function targetOf({ method, params }: Pick<Call, 'method' | 'params'>): string | undefined {
  const target = method === 'resources/read' ? params['uri'] : params['name'];
  const isNamed =
    method === 'tools/call' ||
    method === 'prompts/get' ||
    method === 'resources/read' ||
    method.startsWith('events/');
  return isNamed && typeof target === 'string' ? target : undefined;
}
