import type { JsonObject } from '../../jsonrpc/message.js';
import type { Progress } from '../model/options.js';

/** Reads progress from a notification, or from the metadata of a task; undefined if it is malformed. */
export function toProgress(params: JsonObject | undefined): Progress | undefined {
  const { progress, total, message } = params ?? {};
  if (typeof progress !== 'number') return undefined;
  return {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  };
}
