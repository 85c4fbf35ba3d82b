// The mark of fullmcp: a full disc of two ends that fit into each other. It has one colour, and edges on whole pixels at 16 × 16.

/** The shape of the mark, on 16 × 16. */
export const MARK_SHAPE: string = 'M10 .254A8 8 0 0 0 4 14.928V7h6zM6 15.746A8 8 0 0 0 12 1.072V9H6z';

/** The mark as an element of a page, in the colour of the text around it. The words beside it say what it is about. */
export const MARK: string = `<svg class="mark" width="24" height="24" viewBox="0 0 16 16" fill="currentColor" aria-hidden="true"><path d="${MARK_SHAPE}"/></svg>`;
