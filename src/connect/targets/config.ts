import type { HttpLinkOptions } from '../../transports/http/client/link.js';
import type { ServerProcess } from '../../transports/stdio/client/spawn.js';
import type { Target } from './target.js';

/** Several servers by name, in the shape that Claude Desktop, Cursor and other programs keep in their files. */
export interface McpConfig {
  /** The servers by name: letters, digits, `_` and `-`, 64 at most. Tools and prompts carry the name as a prefix. */
  readonly mcpServers: Readonly<Record<string, ServerEntry>>;
}

/** One server of a config: a process, an address, or a target. Fields that other programs add are ignored. */
export type ServerEntry = (ProcessEntry | AddressEntry | TargetEntry) & {
  /** Leaves the server out. Default: false. */
  readonly disabled?: boolean;
};

/** A server that is started as a process. */
interface ProcessEntry extends Pick<ServerProcess, 'command' | 'args' | 'env' | 'cwd'> {
  /** Ignored: `command` says enough. */
  readonly type?: string;
}

/** A server at a URL. */
interface AddressEntry {
  /** An `https:`, `http:`, `wss:` or `ws:` URL. */
  readonly url: string;
  /** Headers for every request to this server. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A bearer token for this server, or a function that returns one. */
  readonly auth?: HttpLinkOptions['auth'];
  /** Ignored: the client finds out what the server speaks. */
  readonly type?: string;
}

/** A server in the form that `connect` takes, such as a server object in the same process. */
interface TargetEntry {
  /** Anything that `connect` takes. */
  readonly target: Target;
}
