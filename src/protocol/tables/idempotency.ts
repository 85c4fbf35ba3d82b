// Where calls carry idempotency keys, and where tools declare that they honour them.

/** Where a client puts the key that makes a call and its repetitions one, in `_meta` of the call. */
export const IDEMPOTENCY_KEY = 'fullmcp/idempotencyKey';

/** Where a listed tool says, in its `_meta`, for how long it keeps the outcome of a call with a key. */
export const KEEPS_KEYS = 'fullmcp/idempotency';
