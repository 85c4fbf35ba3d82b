import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestUser } from '../../support/oauth/user.js';
import {
  type Client,
  ClientV1,
  ClientV2,
  HttpV1,
  HttpV2,
  type OAuthClientProvider,
  type OAuthTokens,
  type Transport,
} from './peers.js';

// An official client with a user in front of it.

const clients = {
  v1: { Client: ClientV1, Http: HttpV1, options: {} },
  'v2 legacy': { Client: ClientV2, Http: HttpV2, options: { versionNegotiation: { mode: 'legacy' } } },
  'v2 pinned': {
    Client: ClientV2,
    Http: HttpV2,
    options: { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  },
} as const;

/** The clients that can log in. */
export type Who = keyof typeof clients;

/** The address that the browser comes back to, and what it brings. */
interface Callback {
  readonly url: string;
  readonly parameters: URLSearchParams[];
  readonly close: () => void;
}

/** A program that uses an official client, and remembers what the client asks it to. */
export class OfficialProgram implements OAuthClientProvider {
  readonly user = new TestUser();
  readonly clientMetadata: Record<string, unknown>;
  readonly clientMetadataUrl?: string;
  /** The registration of the client. */
  information: { readonly client_id?: string } | undefined;
  /** Every set of tokens that the client got. */
  readonly saved: OAuthTokens[] = [];
  readonly #who: Who;
  readonly #callback: Callback;
  #tokens: OAuthTokens | undefined;
  #verifier = '';
  #discovered: object | undefined;
  #login: Promise<void> | undefined;
  #client: Client | undefined;

  private constructor(who: Who, callback: Callback, clientMetadataUrl: string | undefined) {
    this.#who = who;
    this.#callback = callback;
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
    this.clientMetadata = {
      client_name: `Official client ${who}`,
      redirect_uris: [callback.url],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  static async start(who: Who, clientMetadataUrl?: string): Promise<OfficialProgram> {
    return new OfficialProgram(who, await listenForCallback(), clientMetadataUrl);
  }

  /** Connects. If the client needs the user, the user logs in and the client connects again, as its documentation says. */
  async connect(url: string): Promise<Client> {
    return this.withLogin(url, async (transport) => {
      const { Client, options } = clients[this.#who];
      const client = new Client({ name: 'official', version: '1.0.0' }, options);
      await client.connect(transport);
      this.#client = client;
      return client;
    });
  }

  /** Does something that may end with a login, which is then finished, and does it once more. */
  async withLogin<T>(url: string, action: (transport: Transport) => Promise<T>): Promise<T> {
    const { Http } = clients[this.#who];
    const open = (): Transport => new Http(new URL(url), { authProvider: this });
    const transport = open();
    try {
      return await action(transport);
    } catch (error) {
      if (this.#login === undefined) throw error;
      await this.finishLogin(transport);
      return action(open());
    }
  }

  /** Waits for the browser, and hands its answer to the client. */
  async finishLogin(transport: Transport): Promise<void> {
    await this.#login;
    this.#login = undefined;
    const parameters = this.#callback.parameters.at(-1) as URLSearchParams;
    await transport.finishAuth?.(this.#who === 'v1' ? (parameters.get('code') as string) : parameters);
  }

  /** Loses the access token, as if it had ended. */
  loseAccessToken(): void {
    if (this.#tokens !== undefined) this.#tokens = { ...this.#tokens, access_token: 'lost' };
  }

  async close(): Promise<void> {
    await this.#client?.close();
    this.#callback.close();
  }

  get redirectUrl(): string {
    return this.#callback.url;
  }
  clientInformation(): object | undefined {
    return this.information;
  }
  saveClientInformation(information: object): void {
    this.information = information;
  }
  tokens(): OAuthTokens | undefined {
    return this.#tokens;
  }
  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
    this.saved.push(tokens);
  }
  redirectToAuthorization(url: URL): void {
    this.#login = this.user.open(url.href);
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
  saveDiscoveryState(state: object): void {
    this.#discovered = state;
  }
  discoveryState(): object | undefined {
    return this.#discovered;
  }
}

async function listenForCallback(): Promise<Callback> {
  const parameters: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    parameters.push(new URL(request.url ?? '', 'http://127.0.0.1').searchParams);
    response.end('done');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    parameters,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
