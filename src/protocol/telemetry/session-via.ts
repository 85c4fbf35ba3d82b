import { Lifetime } from '../../async/lifetime.js';
import type { TransportName, Via } from '../call.js';
import { begin, sessionEvents } from './tracing.js';

/** The way of the calls of one session, or of one connection that many calls share. */
export class SessionVia implements Via {
  readonly transport: TransportName;
  readonly entryPoint: string | undefined;
  readonly #finish: (() => void) | undefined;
  #lifetime: Lifetime | undefined;

  constructor(transport: TransportName, { entryPoint }: Pick<Via, 'entryPoint'> = {}) {
    this.transport = transport;
    this.entryPoint = entryPoint;
    this.#finish = begin(sessionEvents, () => ({ side: 'server' as const, transport }));
  }

  /** The session. It is made when it is first read: most servers have no use for it. */
  get session(): Lifetime {
    this.#lifetime ??= new Lifetime();
    return this.#lifetime;
  }

  /** Called when the session has ended in this process. */
  end(): void {
    this.session.end(undefined);
    this.#finish?.();
  }
}
