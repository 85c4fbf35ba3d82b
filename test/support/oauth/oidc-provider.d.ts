// The parts of oidc-provider that the tests use. It has no types of its own.
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  export interface StoredToken {
    readonly isExpired: boolean;
    readonly scope?: string;
    readonly jkt?: string;
    destroy(): Promise<void>;
  }
  interface TokenClass {
    find(token: string): Promise<StoredToken | undefined>;
  }
  export interface Features {
    readonly [feature: string]: unknown;
    readonly resourceIndicators?: Readonly<Record<string, unknown>>;
  }
  export interface Configuration {
    readonly [option: string]: unknown;
    readonly features: Features;
  }
  export default class Provider {
    constructor(issuer: string, configuration: Configuration);
    readonly AccessToken: TokenClass;
    readonly ClientCredentials: TokenClass;
    readonly RefreshToken: TokenClass;
    readonly Client: { readonly adapter: { destroy(id: string): Promise<void> } };
    use(
      middleware: (context: { path: string; body: unknown }, next: () => Promise<void>) => Promise<void>,
    ): void;
    callback(): RequestListener;
  }
}
