// The address of what the page shows: `#/tools/order_pizza?size=large`, `#/call/17`, `#/task/f713`.

import { type Signal, signal } from '@preact/signals';
import { tryDecode } from '../../src/protocol/encoding/percent-decoding.js';

export interface Route {
  /** `connect`, `tools`, `resources`, `prompts`, `tasks`, `events`, `chat`, `server`, `timeline`, `call`, `compare` or `tapes`. */
  readonly place: string;
  /** The tool, the URI, the prompt, or the id. */
  readonly name?: string;
  readonly query: URLSearchParams;
}

export const route: Signal<Route> = signal(read());

export function go(place: string, name?: string, query?: Readonly<Record<string, string>>): void {
  const text = new URLSearchParams(query).toString();
  location.hash = `${addressOf(place, name)}${text && `?${text}`}`;
}

export function addressOf(place: string, name?: string): string {
  // A server's name may have half of a character in it, which no address can have.
  const sound = name?.replaceAll(/\p{Surrogate}/gu, '\ufffd');
  return `#/${place}${sound === undefined ? '' : `/${encodeURIComponent(sound)}`}`;
}

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const [place = '', name] = path.split('/', 2);
  return {
    place: place || 'tools',
    ...(name !== undefined && { name: tryDecode(name) }),
    query: new URLSearchParams(query),
  };
}

addEventListener('hashchange', () => {
  route.value = read();
});
