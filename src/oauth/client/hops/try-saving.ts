import { McpError } from '../../../protocol/errors.js';
import type { Emit } from './endpoint.js';

/**
 * Saves something that was issued a moment ago and cannot be asked for again. If the store fails, the program continues with what it
 * has in memory. Resolves to whether the store did not fail.
 */
export async function trySaving(save: () => Promise<unknown>, emit: Emit): Promise<boolean> {
  try {
    await save();
    return true;
  } catch (error) {
    // The errors of a store of the program may have anything in their text.
    const message = McpError.is(error) ? error.message : 'The token store failed.';
    emit({ type: 'not saved', message });
    return false;
  }
}
