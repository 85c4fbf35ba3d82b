import { type ClientRequest, type IncomingMessage, request } from 'node:http';

export interface Got {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly json: <T = Record<string, unknown>>() => T;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Makes a request with exactly these headers, which `fetch` would not allow. */
export function ask(url: string | URL, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const req: ClientRequest = request(url, { method, headers, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers,
          body: text,
          json: () => JSON.parse(text),
        });
      });
      res.on('error', reject);
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** The addresses of an inspector that was opened once, and the cookie that it gave. */
export interface Visit {
  readonly page: Got;
  readonly cookie: string;
  readonly at: (path: string) => URL;
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Got>;
  readonly post: (path: string, body: object, headers?: Readonly<Record<string, string>>) => Promise<Got>;
}

/** Opens the address with its token, as a browser does. */
export async function visit(url: string): Promise<Visit> {
  const page = await ask(url, { headers: { 'sec-fetch-site': 'none' } });
  const cookie = page.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const base = new URL(url);
  base.search = '';
  const at = (path: string): URL => new URL(path, base);
  return {
    page,
    cookie,
    at,
    get: (path, headers = {}) => ask(at(path), { headers: { cookie, ...headers } }),
    post: (path, body, headers = {}) =>
      ask(at(path), {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', origin: base.origin, ...headers },
        body: JSON.stringify(body),
      }),
  };
}
