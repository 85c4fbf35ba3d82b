import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

// A raw socket, for requests that no HTTP library would send.

export async function rawSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Everything that arrives until the server closes, or until `enough` says so. */
export async function readAll(
  socket: Socket,
  enough: (text: string) => boolean = () => false,
): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (enough(text)) resolve(text);
    });
    socket.once('end', () => resolve(text));
    socket.once('close', () => resolve(text));
    socket.once('error', reject);
    socket.resume();
  });
}

export function head(lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}
