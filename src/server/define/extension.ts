// The seam between a server and the extensions of the protocol that it is given.

import type { Implementation } from '../../protocol/model/model.js';
import type { MiddlewareLifetime } from '../../state/hosted-middleware.js';
import type { Changed } from '../state/changes.js';
import type { Logger } from '../state/log.js';
import type { Prompt } from './prompt.js';
import type { Resource } from './resource.js';
import type { Tool } from './tool.js';

/** An extension of the protocol, for `createServer({ extensions: [ … ] })`. `extension` of `fullmcp/extension` makes one. */
export interface ServerExtension {
  /** The identifier: a domain that you own, reversed, a slash and a name, as in `com.example/search`. */
  readonly id: string;
  /** Adds the parts of the extension to the options of a server. Called once, when the server is created. */
  readonly extend: <Options extends object>(options: Options) => Options;
  /** Called once, with the server that was created. */
  readonly attach?: ((host: ExtensionHost) => void) | undefined;
}

/** The server, as its extensions see it. */
export interface ExtensionHost {
  /** The name and the version of the server. */
  readonly info: Implementation;
  /** Announces changes to subscribed clients. */
  readonly changed: Changed;
  /** Writes to the `logger` of the server. */
  readonly log: Logger;
  /** Whether a definition of the server has rules of access. */
  readonly isGuarded: () => boolean;
  /** Adds a definition. Subscribed clients are notified. Throws if the name or the URI is taken. */
  readonly define: (
    kind: 'tool' | 'resource' | 'prompt',
    name: string,
    definition: Tool | Resource | Prompt,
  ) => {
    /** Removes the definition. Subscribed clients are notified. */
    readonly remove: () => void;
  };
  /** Runs parts of the extension when the server starts, and when it closes. */
  readonly attach: (lifetime: MiddlewareLifetime) => void;
}
