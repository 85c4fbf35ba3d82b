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

/** A POST as it is on the wire, with the length of its body. */
export function printPost(
  { headers, body = '' }: { readonly headers?: object; readonly body?: string | Buffer },
  target = '/mcp',
): string {
  const text = String(body);
  const fields = { host: 'localhost', ...headers, 'content-length': text.length };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return head([`POST ${target} HTTP/1.1`, ...lines]) + text;
}

export function head(lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}
