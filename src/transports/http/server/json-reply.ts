import type { HeaderFields, Incoming } from './incoming.js';

// Replies with a JSON body.

/** Replies with a JSON body. */
export function replyJson(incoming: Incoming, status: number, json: string, headers: HeaderFields): void {
  incoming.reply(status, headers === noHeaders ? jsonHeaders : { ...jsonHeaders, ...headers }, json);
}

/** No headers beyond those of every reply. */
export const noHeaders: HeaderFields = Object.freeze({});
export const JSON_TYPE = 'application/json';
/** The headers of a JSON reply that has no others. */
export const jsonHeaders: HeaderFields = Object.freeze({ 'content-type': JSON_TYPE });
