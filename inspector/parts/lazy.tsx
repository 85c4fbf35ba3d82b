import { useSignal } from '@preact/signals';
import type { ComponentType, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { ErrorPanel } from './error-panel.js';

/** A component whose code is loaded when it is shown for the first time. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): (props: P) => VNode | null {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P): VNode | null {
    const component = useSignal<{ readonly of: ComponentType<P> } | undefined>(loaded && { of: loaded });
    const isLost = useSignal(false);
    useEffect(() => {
      if (component.value !== undefined) return;
      load().then(
        (ready) => {
          loaded = ready;
          component.value = { of: ready };
        },
        () => {
          isLost.value = true;
        },
      );
    }, []);
    if (isLost.value)
      return (
        <ErrorPanel
          failure={{
            code: 'gone',
            message: 'This part of the page could not be loaded.',
            advice: 'Is the command of the inspector still running? If so, reload the page.',
          }}
        />
      );
    if (component.value === undefined) return null;
    const Loaded = component.value.of;
    return <Loaded {...props} />;
  };
}
