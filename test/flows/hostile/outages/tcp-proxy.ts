import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy between the replicas and their engine, which can make the engine slow or silent. */
export class TcpProxy {
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #delayMs = 0;

  constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#pass(client));
  }

  /** Listens on a free port, which it returns. */
  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as { port: number }).port;
  }

  /**
   * Delays the replies of the engine by this time from now on. With `Infinity`, connections are accepted and nothing is passed on;
   * a connection that has swallowed something stays dead.
   */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pass(client: Socket): void {
    const engine = connect(this.#target, '127.0.0.1');
    let isSilent = false;
    let lastAt = 0;
    for (const socket of [client, engine]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        engine.destroy();
      });
    }
    const isDead = (): boolean => {
      isSilent ||= this.#delayMs === Number.POSITIVE_INFINITY;
      return isSilent;
    };
    client.on('data', (data) => {
      if (!isDead()) engine.write(data);
    });
    engine.on('data', (data) => {
      if (isDead()) return;
      // A reply never overtakes the one before it.
      lastAt = Math.max(lastAt, performance.now() + this.#delayMs);
      setTimeout(() => client.write(data), lastAt - performance.now());
    });
  }
}
