// Tells middleware that keeps results whether it may return one, and when it has to forget one.

import type { Call } from '../../protocol/call.js';
import type { ServerResults } from '../../state/hosted-middleware.js';
import type { Topic } from '../../state/topic.js';
import type { Registry } from '../catalog/registry.js';
import { type ChangeMessage, changeOf } from '../state/changes.js';
import type { AdmissionParts } from './admission.js';

/** The lists that a server prints once, or makes anew for each caller. */
const LISTS: Readonly<Record<string, 'tools' | 'prompts' | 'resources'>> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
};

/** Makes the seam for middleware that keeps results. */
export function serverResults(
  registry: Registry,
  { admission, hasBus }: Pick<ServerResults, 'admission'> & { readonly hasBus: () => boolean },
): ServerResults {
  const { changes } = registry;
  return {
    admission,
    variant: (call) =>
      call.method === 'tools/call'
        ? registry.tools.get(String(call.params['name']))?.versions?.choose(call)
        : undefined,
    freshness({ method, params }) {
      if (method === 'server/discover') return 'never';
      const kind = Object.hasOwn(LISTS, method) ? LISTS[method] : undefined;
      if (kind !== undefined) return registry.offers(kind) ? 'never' : 'stated';
      const source = method === 'resources/read' && registry.findResource(String(params['uri']))?.source;
      return source && source.ttlMs === undefined ? 'open' : 'stated';
    },
    isReadOnly: (name) => {
      const tool = registry.tools.get(name);
      const versions = tool?.versions?.all ?? [tool];
      return tool && versions.every((one) => one?.listed.annotations?.readOnlyHint === true);
    },
    onChange: (listener) => follow(changes, new WeakRef(listener)),
    hearsChanges() {
      void changes.ready();
      return changes.isSubscribed || !hasBus();
    },
  };
}

// A tool may be removed, and its middleware with it.
function follow(changes: Topic<ChangeMessage>, reference: WeakRef<Listener>): void {
  const tell: Listener = (change) => {
    const listener = reference.deref();
    if (listener === undefined) changes.unsubscribe(subscription);
    else listener(change);
  };
  const subscription = {
    message: (message: ChangeMessage) => tell(changeOf(message)),
    gap: () => tell({ kind: 'everything' }),
  };
  changes.subscribe(subscription);
}

type Listener = Parameters<ServerResults['onChange']>[0];

/** Decides whether the handler of a call would run. Its code is loaded with the first call that middleware may answer instead. */
export function admissionLater(parts: AdmissionParts): ServerResults['admission'] {
  let admits: ServerResults['admission'] | undefined;
  return (call) => (admits === undefined ? load(call) : admits(call));

  async function load(call: Call): Promise<string | undefined> {
    const { admissions } = await import('./admission.js');
    admits = admissions(parts);
    return admits(call);
  }
}
