import type { Server as HttpServer } from 'node:http';

/** Listens on a port, or throws an error that says what to do. */
export function listen(http: HttpServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(listenError(error, port, host));
    http.once('error', onError);
    http.listen(port, host, () => {
      http.off('error', onError);
      resolve();
    });
  });
}

// Most programs await this at their top level, where Node prints the whole error with its cause. Only the message and the code
// are useful: the stack shows Node's own functions, and the cause repeats the message.
function listenError(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const sentence = sentences[error.code ?? '']?.(port, host);
  if (sentence === undefined) return error;
  const clear = new Error(sentence);
  clear.stack = `${clear.name}: ${sentence}`;
  return Object.defineProperty(clear, 'code', { value: error.code });
}

const sentences: Readonly<Record<string, (port: number, host: string) => string>> = {
  EADDRINUSE: (port) => `Port ${port} is taken. Choose another with PORT or { port }.`,
  EACCES: (port) => `Port ${port} is not allowed for this user. Choose one above 1023 with PORT or { port }.`,
  EADDRNOTAVAIL: (_, host) =>
    `This machine does not have the address ${host}. Choose another with MCP_HOST or { host }.`,
  ENOTFOUND: (_, host) => `The host ${host} cannot be resolved. Choose another with MCP_HOST or { host }.`,
};
