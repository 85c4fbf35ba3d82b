// Where something that belongs to an element is put on the screen. Measured, because not every browser can anchor by style sheet.

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Placement {
  readonly left: number;
  readonly top: number;
  readonly maxHeight: number;
}

const GAP = 4;
/** The distance to the edges of the window. */
const MARGIN = 8;

/**
 * Below its anchor and flush with its left edge. Where it does not fit there, above it, or flush with the right edge;
 * it never leaves the room, and scrolls if it is higher than the room.
 */
export function placed(anchor: Box, size: { width: number; height: number }, room: Box): Placement {
  const left = room.left + MARGIN;
  const right = room.right - MARGIN;
  const above = anchor.top - GAP - (room.top + MARGIN);
  const below = room.bottom - MARGIN - (anchor.bottom + GAP);
  const isBelow = size.height <= below || below >= above;
  const maxHeight = Math.max(0, isBelow ? below : above);
  const height = Math.min(size.height, maxHeight);
  const width = Math.min(size.width, right - left);
  const wanted = anchor.left + width <= right ? anchor.left : anchor.right - width;
  return {
    left: Math.max(left, Math.min(wanted, right - width)),
    top: isBelow ? anchor.bottom + GAP : anchor.top - GAP - height,
    maxHeight,
  };
}

/** The window without the bar at the bottom, which a phone has. */
export function roomOnScreen(): Box {
  const bar = Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--bottom-bar'));
  return { left: 0, top: 0, right: innerWidth, bottom: innerHeight - (Number.isNaN(bar) ? 0 : bar) };
}
