import { every } from '../../async/every.js';
import { unsupported } from '../open/opener.js';
import type { Runtime } from '../targets/options.js';
import type { McpConfig } from '../targets/target.js';
import type { PinFiles } from './pins/pins.js';

/** The files of a gateway: its config and its lock file. */
export interface GatewayFiles extends PinFiles {
  /** A string that changes whenever the file does; undefined if the file does not exist. */
  readonly version: (path: string) => Promise<string | undefined>;
}

/** Reads a config file, and replaces the variables in it. */
export function configFile(runtime: Runtime, path: string): Promise<McpConfig> {
  const { readConfig = unsupported('read a config file') } = runtime;
  return readConfig(path);
}

interface ConfigWatch {
  readonly files: GatewayFiles;
  readonly watchMs: number;
  /** The version of the file that was read last. */
  readonly read: string | undefined;
  /** Reads the file. If that fails, the servers stay as they are. */
  readonly onChange: () => Promise<unknown>;
  readonly problem: (message: string, cause?: unknown) => void;
}

/** Looks at a file again and again. Returns the function that stops it. */
export function watchConfig(
  path: string,
  { files, watchMs, read, onChange, problem }: ConfigWatch,
): () => void {
  let known = read;

  async function look(): Promise<void> {
    const version = await files.version(path);
    // While an editor replaces a file, it may be away for a moment.
    if (version === known || version === undefined) return;
    known = version;
    await onChange();
  }

  return every(watchMs, look, {
    atOnce: true,
    onError: (error) =>
      problem(`The config ${path} cannot be used, so the servers stay as they are: ${messageOf(error)}`),
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
