import './popup.css';
import type { ComponentChildren, RefObject, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useLayer } from './layers.js';
import { placed, roomOnScreen } from './place.js';

/**
 * Something that lies above the page beside its anchor, and inside the window. It is shown as long as it exists, and closes on Escape
 * and when a click or the focus goes elsewhere.
 */
export function Popover({
  anchor,
  onClose,
  class: extra = '',
  isAsWide = false,
  children,
}: {
  readonly anchor: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
  readonly class?: string;
  /** As wide as the anchor, at least. */
  readonly isAsWide?: boolean;
  readonly children: ComponentChildren;
}): VNode {
  const box = useRef<HTMLDivElement>(null);
  useLayer(onClose, anchor);
  useLayoutEffect(() => {
    const element = box.current;
    const owner = anchor.current;
    if (element === null || owner === null) return undefined;
    // In the top layer nothing clips it. A browser that does not know popovers shows it in its place, above its neighbours.
    element.showPopover?.();
    const place = () => put(element, owner, isAsWide);
    place();
    const observer = new ResizeObserver(place);
    observer.observe(element);
    observer.observe(owner);
    addEventListener('resize', place);
    // The anchor moves with any part of the page that scrolls.
    addEventListener('scroll', place, { capture: true, passive: true });
    return () => {
      observer.disconnect();
      removeEventListener('resize', place);
      removeEventListener('scroll', place, { capture: true });
    };
  }, [isAsWide]);
  useEffect(() => {
    const closeIfOutside = ({ target }: Event): void => {
      if (!(target instanceof Node) || box.current?.contains(target) || anchor.current?.contains(target))
        return;
      onClose();
    };
    addEventListener('pointerdown', closeIfOutside);
    addEventListener('focusin', closeIfOutside);
    return () => {
      removeEventListener('pointerdown', closeIfOutside);
      removeEventListener('focusin', closeIfOutside);
    };
  }, []);
  return (
    <div ref={box} class={`popover ${extra}`} popover="manual">
      {children}
    </div>
  );
}

function put(element: HTMLElement, owner: HTMLElement, isAsWide: boolean): void {
  const { style } = element;
  const anchor = owner.getBoundingClientRect();
  style.minWidth = isAsWide ? `${anchor.width}px` : '';
  // Its own height, whatever the room allowed before.
  const height = element.scrollHeight + element.offsetHeight - element.clientHeight;
  const { left, top, maxHeight } = placed(anchor, { width: element.offsetWidth, height }, roomOnScreen());
  style.left = `${left}px`;
  style.top = `${top}px`;
  style.maxHeight = `${maxHeight}px`;
}
