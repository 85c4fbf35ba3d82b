import './overlays.css';
import { type Signal, signal } from '@preact/signals';
import type { VNode } from 'preact';
import { lazy } from '../../parts/lazy.js';
import { toasted } from '../../state/toast.js';

const Palette = lazy(() => import('./palette.js').then((module) => module.Palette));
const KeyHelp = lazy(() => import('./key-help.js').then((module) => module.KeyHelp));

/** Everything that lies above the page. */
export const overlay: Signal<'palette' | 'keys' | undefined> = signal(undefined);

export function Overlays(): VNode {
  return (
    <>
      {overlay.value === 'palette' && <Palette />}
      {overlay.value === 'keys' && <KeyHelp />}
      <div class="frame-toast" role="status">
        {toasted.value !== undefined && <span>{toasted.value}</span>}
      </div>
    </>
  );
}
