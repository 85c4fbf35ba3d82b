import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy in front of Redis that can lose the reply to a command that it has passed on. */
export class TcpProxy {
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #losesReplyTo: string | undefined;
  /** How often a command with the text was passed on. */
  passedOn = 0;

  constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#pass(client));
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `redis://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  /** Passes on the next command that has the text, and breaks the connection in place of the reply. */
  loseReplyTo(text: string): void {
    this.#losesReplyTo = text;
    this.passedOn = 0;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pass(client: Socket): void {
    const redis = connect(this.#target, '127.0.0.1');
    let isCut = false;
    for (const socket of [client, redis]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        redis.destroy();
      });
    }
    client.on('data', (data) => {
      if (this.#losesReplyTo !== undefined && data.includes(this.#losesReplyTo)) {
        this.passedOn++;
        isCut ||= this.passedOn === 1;
      }
      redis.write(data);
    });
    redis.on('data', (data) => {
      if (isCut) client.destroy();
      else client.write(data);
    });
  }
}
