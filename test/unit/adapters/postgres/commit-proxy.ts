import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** The fate of a commit whose connection breaks. A late one arrives when the process has already seen its connection break. */
export type CommitFate = 'its reply is lost' | 'it is never sent' | 'it is delayed' | 'it comes too late';

const DELAY_MS = 300;

/** A proxy in front of Postgres that breaks the connections of the next commits. */
export class CommitProxy {
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #fates: CommitFate[] = [];
  #late: (() => unknown)[] = [];
  /** The commits that were broken. */
  broken = 0;

  constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#pass(client));
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as { port: number }).port;
  }

  /** Breaks the next commits in these ways. */
  breakNext(...fates: CommitFate[]): void {
    this.#fates.push(...fates);
  }

  /** Delivers the commits that are late. */
  deliverLate(): void {
    for (const deliver of this.#late.splice(0)) deliver();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pass(client: Socket): void {
    const postgres = connect(this.#target, '127.0.0.1');
    let isCut = false;
    let isLate = false;
    for (const socket of [client, postgres]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        if (!isLate) postgres.destroy();
      });
    }
    client.on('data', (data) => {
      const fate = data.includes('COMMIT\0') ? this.#fates.shift() : undefined;
      if (fate !== undefined) this.broken++;
      if (fate === undefined || fate === 'its reply is lost') {
        isCut = fate !== undefined;
        postgres.write(data);
        return;
      }
      isLate = fate !== 'it is never sent';
      const deliver = (): unknown => postgres.write(data);
      if (fate === 'it is delayed') setTimeout(deliver, DELAY_MS);
      if (fate === 'it comes too late') this.#late.push(deliver);
      client.destroy();
    });
    postgres.on('data', (data) => {
      if (isCut) client.destroy();
      else if (!client.destroyed) client.write(data);
    });
  }
}
