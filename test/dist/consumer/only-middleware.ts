// A library that imports one entry: the types of its results must have names there.
import { cache, concurrency, timeout } from 'fullmcp/middleware';

export const quick = timeout(1000);
export const few = concurrency({ limit: 4 });
export const cached = cache({ ttlMs: 1000 });
