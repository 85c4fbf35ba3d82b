// Limits on the data that a peer makes the other side keep or repeat, shared by both eras.

/** The longest URI that is matched against a template or subscribed to, in characters. */
export const MAX_URI_LENGTH = 8192;

/** The number of resources, and of tasks, that one subscription or one session may watch. */
export const MAX_SUBSCRIBED = 1000;

/** The number of characters that the URIs of one subscription or one session may have together. */
export const MAX_SUBSCRIBED_LENGTH = 262_144;
