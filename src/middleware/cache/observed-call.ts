import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, HttpFacts, Peer } from '../../protocol/call.js';
import { canonical } from '../../protocol/canonical.js';
import { copyCall } from '../../protocol/direct.js';
import { CALLER } from '../../protocol/tables/meta-keys.js';

// A call that notes which of its facts are read while it runs. The result depends on these, and on no others.

/** A fact of a call that a result may depend on, besides its method, its parameters and its caller. A header is named `header …`. */
export type Fact = string;

/** The value of a fact of a call, as JSON. */
export function factOf({ peer, params, http }: Call, fact: Fact): string {
  if (fact === 'revision' || fact === 'client' || fact === 'capabilities') return canonical(peer[fact]);
  if (fact === '_meta') return canonical(ownMeta(params['_meta']));
  if (fact === 'remoteAddress' || fact === 'version') return canonical(http?.[fact]);
  return canonical(http?.header(fact.slice(HEADER.length)));
}

const HEADER = 'header ';
const SPECIFICATION = 'io.modelcontextprotocol/';
/** They differ from call to call, and say nothing about the result. */
const PASSING: readonly string[] = ['progressToken', 'traceparent', 'tracestate', 'baggage', CALLER];

// The fields of the specification describe the client; they are facts of their own.
function ownMeta(meta: unknown): unknown {
  if (!isObject(meta)) return null;
  const own = Object.entries(meta).filter(
    ([key]) => !PASSING.includes(key) && !key.startsWith(SPECIFICATION),
  );
  return Object.fromEntries(own);
}

/** A copy of a call that notes the facts that are read, and the notifications that are sent. */
export class ObservedCall {
  /** The facts that were read so far. */
  readonly facts: Set<Fact> = new Set();
  /** Whether the client was sent anything but progress and log messages. */
  hasNotified = false;
  /** The copy. */
  readonly call: Call;

  constructor(call: Call, onProgress: (progress: JsonObject) => void) {
    const { params, peer, http, notify } = call;
    this.call = copyCall(call, {
      peer: this.#observe<Peer>(peer, ['revision', 'client', 'capabilities']),
      ...('_meta' in params && { params: this.#observe(params, ['_meta']) }),
      http: http && this.#observeHttp(http),
      notify: (method, content) => {
        if (method !== 'notifications/progress' && method !== 'notifications/message')
          this.hasNotified = true;
        notify(method, content);
        if (method === 'notifications/progress' && content !== undefined) onProgress(content);
      },
    });
  }

  #observeHttp(http: HttpFacts): HttpFacts {
    const header = (name: string): string | undefined => {
      this.facts.add(`${HEADER}${name}`);
      return http.header(name);
    };
    const { remoteAddress, version, mirrored } = http;
    return this.#observe<HttpFacts>({ header, remoteAddress, version, mirrored }, [
      'remoteAddress',
      'version',
    ]);
  }

  /** A copy of an object whose fields note that they are read. They are its own, so that a spread reads and copies them. */
  #observe<T extends object>(object: T, fields: readonly (string & keyof T)[]): T {
    const copy = { ...object };
    for (const field of fields) {
      const value = object[field];
      const get = (): T[typeof field] => {
        this.facts.add(field);
        return value;
      };
      Object.defineProperty(copy, field, { enumerable: true, configurable: true, get });
    }
    return copy;
  }
}
