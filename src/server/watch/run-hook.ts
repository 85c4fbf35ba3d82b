import { unlessAborted } from '../../async/abort.js';
import type { SubscriptionContext, SubscriptionHook } from '../define/resource.js';
import type { TemplateValues } from '../define/template-values.js';

/** The longest time for a hook. */
const HOOK_MS = 30_000;

/** A hook whose values are known only when it runs. */
export type AnyHook = SubscriptionHook<TemplateValues, unknown>;

/**
 * Runs a hook. Its signal aborts if the hook throws or takes too long. A hook that ignores its signal is not waited for, so that
 * it does not hold up other subscribers.
 */
export async function runHook(
  hook: AnyHook | undefined,
  values: TemplateValues,
  { controller, ...ctx }: Omit<SubscriptionContext, 'signal'> & { readonly controller: AbortController },
): Promise<void> {
  if (hook === undefined) return;
  const { signal } = controller;
  const late = (): void =>
    controller.abort(new DOMException(`The hook took longer than ${HOOK_MS} ms`, 'TimeoutError'));
  const timer = setTimeout(late, HOOK_MS);
  try {
    const running = (async () => hook(values, { ...ctx, signal }))();
    await unlessAborted(running, signal);
  } catch (error) {
    controller.abort(error);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
