import { eventCapabilities } from '../../protocol/events/offer.js';
import type { ServerCapabilities } from '../../protocol/model/model.js';
import { TASKS } from '../../protocol/tasks.js';
import type { ServerDefinition } from '../define/options.js';
import type { Announcement } from '../state/changes.js';

/** The definitions of a server, as its capabilities follow from them. */
interface Offers {
  readonly offers: (kind: 'tools' | 'resources' | 'prompts') => boolean;
  readonly announces: (kind: Announcement['kind']) => boolean;
  readonly offersTasks: () => boolean;
  readonly offersCompletions: () => boolean;
  readonly offersEvents: boolean;
  readonly guardsResources: boolean;
}

/** The capabilities of a server, which follow from its definitions. */
export function capabilitiesOf(
  registry: Offers,
  { experimental, extensions: given }: Pick<ServerDefinition<never, never>, 'experimental' | 'extensions'>,
): ServerCapabilities {
  // An array has become an object when the server was created.
  const declared = given as ServerCapabilities['extensions'];
  const listChanged = (kind: Announcement['kind']): object =>
    registry.announces(kind) ? { listChanged: true } : {};
  const events = registry.offersEvents ? eventCapabilities({ ...listChanged('events') }) : undefined;
  const own = { ...(registry.offersTasks() && { [TASKS]: {} }), ...events?.extension };
  const extensions = Object.keys(own).length > 0 ? { ...declared, ...own } : declared;
  return {
    ...(registry.offers('tools') && { tools: listChanged('tools') }),
    ...(registry.offers('resources') && {
      resources: markGuarded(registry, {
        ...(registry.announces('resource') && { subscribe: true }),
        ...listChanged('resources'),
      }),
    }),
    ...(registry.offers('prompts') && { prompts: listChanged('prompts') }),
    ...(registry.offersCompletions() && { completions: {} }),
    ...events?.capability,
    logging: {},
    ...(experimental && { experimental }),
    ...(extensions && { extensions }),
  };
}

// The property is not enumerable: only the translation to sessions reads it, which then asks before it accepts a subscription.
function markGuarded({ guardsResources }: Offers, resources: object): object {
  return guardsResources ? Object.defineProperty(resources, 'isGuarded', { value: true }) : resources;
}
