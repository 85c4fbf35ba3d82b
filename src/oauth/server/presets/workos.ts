import { hostOf, type Preset, type PresetOptions } from './preset.js';

/** The options of `workos`. */
export interface WorkosOptions extends PresetOptions {
  /** The domain of AuthKit, such as `example.authkit.app`, or its own domain. */
  readonly domain: string;
  /**
   * The URL of this server, which must be an "MCP resource indicator" of the environment. Without that, tokens have the id of the
   * client as their audience.
   */
  readonly audience: string | readonly string[];
}

/** Tokens of WorkOS AuthKit. */
export function workosPreset({ domain, ...options }: WorkosOptions): Preset {
  return {
    options: { ...options, issuer: `https://${hostOf('workos', 'domain', domain)}` },
    parts: { name: 'workos' },
  };
}
