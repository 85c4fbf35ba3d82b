import type { AuthRequest } from '../../../../state/auth-provider.js';
import type { BodyLimits, Incoming } from '../incoming.js';
import type { ResourceUrls } from './resource-url.js';

// A request as a provider of authorization sees it.

/** A request whose caller is to be identified. */
export class EdgeRequest implements AuthRequest {
  readonly #incoming: Incoming;
  readonly #urls: ResourceUrls;
  readonly method: string;

  constructor(incoming: Incoming, urls: ResourceUrls) {
    this.#incoming = incoming;
    this.#urls = urls;
    this.method = incoming.method;
  }

  get url(): string {
    return this.#urls.urlOf(this.#incoming);
  }

  get remoteAddress(): string | undefined {
    return this.#incoming.remoteAddress;
  }

  readonly header = (name: string): string | undefined => this.#incoming.header(name);
}

/** The whole request, for a page of the provider. Its body is read when the page reads it. */
export function toWebRequest(incoming: Incoming, origin: string, limits: BodyLimits): Request | undefined {
  const url = `${origin}${incoming.path}${incoming.query}`;
  const { method } = incoming;
  const isPage = incoming.path.startsWith('/') && URL.canParse(url);
  if (!isPage || method === 'CONNECT' || method === 'TRACE') return undefined;
  const headers = new Headers();
  for (const [name, value] of incoming.headerFields()) if (!name.startsWith(':')) headers.append(name, value);
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers });
  const init = { method, headers, body: bodyOf(incoming, limits), duplex: 'half' };
  return new Request(url, init);
}

function bodyOf(incoming: Incoming, limits: BodyLimits): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        return new Promise<void>((resolve) => {
          incoming.read(limits, {
            receiveBody(text) {
              if (text !== '') controller.enqueue(new TextEncoder().encode(text));
              controller.close();
              resolve();
            },
            fail(error) {
              controller.error(error);
              resolve();
            },
          });
        });
      },
    },
    // Nothing is read in advance: the request may not be for the provider.
    { highWaterMark: 0 },
  );
}
