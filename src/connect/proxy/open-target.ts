import { McpError } from '../../protocol/errors.js';
import type { Link, OpenLink } from '../../protocol/link.js';
import { Attempts } from '../open/attempts.js';
import { linkOpener, unsupported } from '../open/opener.js';
import type { ConnectOptions, Runtime } from '../targets/options.js';
import { type ResolvedTarget, resolveTarget, type Target } from '../targets/target.js';
import { nameOf, transportOf } from '../targets/target-names.js';

/** Makes the function that opens links to one server, of whatever kind. */
export function targetOpener(runtime: Runtime): (target: Target, options: ConnectOptions) => OpenLink {
  const openLinkTo = linkOpener(runtime);

  async function openFirst(
    targets: readonly Target[],
    options: ConnectOptions,
    [events, open]: Parameters<OpenLink>,
  ): Promise<Link> {
    const attempts = new Attempts();
    for (const target of targets.map(resolveTarget)) {
      try {
        return await openTo(target, options)(events, open);
      } catch (thrown) {
        const error = attempts.add(thrown, { target: nameOf(target), transport: transportOf(target) });
        if (open.signal.aborted) throw error;
      }
    }
    throw attempts.toError();
  }

  function openTo(resolved: ResolvedTarget, options: ConnectOptions): OpenLink {
    switch (resolved.kind) {
      case 'config':
      case 'config-file':
        throw new McpError(
          'invalid_request',
          'A proxy has one server. Use gateway() for a config of several.',
        );
      case 'list':
        return (...args) => openFirst(resolved.targets, options, args);
      case 'script':
        return async (events, open) => {
          const { script = unsupported('start a process') } = runtime;
          const { hint: _, ...server } = await script(resolved.path);
          return openLinkTo({ kind: 'process', server }, options)(events, open);
        };
      default:
        return openLinkTo(resolved, options);
    }
  }

  return (target, options) => openTo(resolveTarget(target), options);
}
