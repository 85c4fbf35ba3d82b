import type { HttpLinkOptions } from '../transports/http/link.js';
import type { ServerProcess } from '../transports/stdio/spawn.js';
import type { Target } from './target.js';

/** Many servers by name, in the shape that other programs keep in their files. */
export interface McpConfig {
  readonly mcpServers: Readonly<Record<string, ServerEntry>>;
}

/** One server of a config. Fields that other programs put there are ignored. */
export type ServerEntry = (ProcessEntry | AddressEntry | TargetEntry) & {
  /** It is left out. */
  readonly disabled?: boolean;
};

interface ProcessEntry extends Pick<ServerProcess, 'command' | 'args' | 'env' | 'cwd'> {
  readonly type?: string;
}

interface AddressEntry {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly auth?: HttpLinkOptions['auth'];
  /** What the server speaks is found out; other programs want to be told. */
  readonly type?: string;
}

/** For programs: anything that `connect` takes, a server object for example. */
interface TargetEntry {
  readonly target: Target;
}
