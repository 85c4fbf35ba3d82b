// Limits on what a peer makes the other side keep or repeat, shared by both eras.

/** The longest URI that is matched against a template or subscribed to, in characters. */
export const MAX_URI_LENGTH = 8192;

/** How many resources, and how many tasks, one subscription or one session may watch. */
export const MAX_SUBSCRIBED = 1000;

/** How many characters the URIs of one subscription or one session may have together. */
export const MAX_SUBSCRIBED_LENGTH = 262_144;
