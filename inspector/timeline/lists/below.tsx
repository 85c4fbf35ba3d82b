import type { ComponentChildren, VNode } from 'preact';
import { Splitter } from '../../parts/controls/split.js';
import { detailHeight } from '../timeline-state.js';

/** The messages of the selected entry, below the list. */
export function Below({ children }: { readonly children: ComponentChildren }): VNode {
  return (
    <>
      <Splitter size={detailHeight} min={120} max={640} label="Height of the message" axis="y" isReversed />
      <div class="timeline-below" style={{ height: `${detailHeight.value}px` }}>
        {children}
      </div>
    </>
  );
}
