import fc from 'fast-check';
import { createServer, type Dispatch, event, inProcess, type JsonObject, type Mountable } from 'fullmcp';
import { gateway } from 'fullmcp/gateway';
import { concurrency, type Middleware, rateLimit, timeout } from 'fullmcp/middleware';
import { proxy } from 'fullmcp/proxy';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { until } from '../../support/until.js';

// Random stacks of mounts, proxies and gateways in front of a server with events: the names, the rights, the ids and the order hold.

interface LayerSpec {
  readonly kind: 'mount' | 'proxy' | 'gateway';
  readonly name: string;
  readonly use: readonly ('rateLimit' | 'concurrency' | 'timeout')[];
  readonly hides: boolean;
}

const layer = fc.record({
  kind: fc.constantFrom('mount', 'proxy', 'gateway'),
  name: fc.constantFrom('a', 'desk', 'a_b'),
  use: fc.uniqueArray(fc.constantFrom('rateLimit', 'concurrency', 'timeout')),
  hides: fc.boolean(),
});

const quiet = { version: '1', secret: 's'.repeat(40), logger: () => undefined };
const payload = z.object({ n: z.number() });
const who = ({ auth }: { auth?: { subject: string } | undefined }) =>
  auth && { key: auth.subject, caller: auth as never };

interface Layer {
  readonly server: { readonly dispatch: Dispatch };
  /** The server, as long as it can be mounted. */
  readonly mountable: Mountable | undefined;
  /** The names of the types, as callers of this layer use them. */
  readonly named: (type: string) => string;
  readonly isHidden: boolean;
}

function middlewareOf(use: LayerSpec['use']): Middleware[] {
  const made = {
    rateLimit: () => rateLimit('1000/min'),
    concurrency: () => concurrency({ limit: 2 }),
    timeout: () => timeout(60_000),
  };
  return use.map((part) => made[part]());
}

function build(base: Mountable, specs: readonly LayerSpec[], closing: (() => Promise<unknown>)[]): Layer {
  let top: Layer = { server: base, mountable: base, named: (type) => type, isHidden: false };
  for (const { kind, name, use, hides } of specs) {
    const { server, mountable, named, isHidden } = top;
    const prefixed = (type: string): string => `${name}_${named(type)}`;
    if (kind === 'mount' && mountable !== undefined) {
      const made = createServer({
        ...quiet,
        name: 'outer',
        mount: { [name]: mountable },
        use: middlewareOf(use),
      });
      closing.push(() => made.close());
      top = { server: made, mountable: made, named: prefixed, isHidden };
    } else if (kind === 'gateway') {
      const allow = ({ name: own }: { name: string }): boolean => !own.endsWith('secret');
      const made = gateway({ mcpServers: { [name]: { target: server } } } as never, {
        ...{ identity: who as never, use: middlewareOf(use), logger: () => undefined },
        ...(hides && { allow }),
      });
      closing.push(() => made.close());
      top = { server: made, mountable: undefined, named: prefixed, isHidden: isHidden || hides };
    } else {
      const made = proxy(server as never, {
        identity: who as never,
        use: middlewareOf(use),
        logger: () => undefined,
      });
      closing.push(() => made.close());
      top = { server: made, mountable: undefined, named, isHidden };
    }
  }
  return top;
}

async function holds(specs: readonly LayerSpec[]): Promise<void> {
  const closing: (() => Promise<unknown>)[] = [];
  const stop = new AbortController();
  const desk = createServer({
    ...quiet,
    name: 'base',
    events: {
      open: event({ payload }),
      scoped: event({ payload, scopes: ['s'] }),
      secret: event({ payload }),
    },
  });
  closing.push(() => desk.close());
  try {
    const { server, named, isHidden } = build(desk, specs, closing);
    const as = (subject: string, ...scopes: string[]) =>
      inProcess(server, { caller: { subject, scopes, claims: {} } });
    const [ada, bob] = [as('ada', 's'), as('bob')];
    const listed = async (ask: typeof ada) =>
      ((await ask('events/list'))['events'] as { name: string }[]).map(({ name }) => name);
    const visible = isHidden ? [] : [named('secret')];
    expect(await listed(ada)).toEqual([named('open'), named('scoped'), ...visible]);
    expect(await listed(bob)).toEqual([named('open'), ...visible]);
    await expect(bob('events/poll', { name: named('scoped') })).rejects.toMatchObject({ number: -32012 });
    const hidden = bob('events/poll', { name: named('secret') });
    if (isHidden) await expect(hidden).rejects.toMatchObject({ number: -32011 });
    else await hidden;
    const told: string[] = [];
    let isActive = false;
    const ended = ada(
      'events/stream',
      { name: named('scoped') },
      {
        signal: stop.signal,
        onNotification(method, params: JsonObject = {}) {
          isActive ||= method === 'notifications/events/active';
          if (method === 'notifications/events/event') told.push(`${params['name']} ${params['eventId']}`);
        },
      },
    ).catch(() => undefined);
    await until('the stream is active', () => isActive);
    const { cursor } = await ada('events/poll', { name: named('scoped') });
    for (let n = 1; n <= 5; n++) await desk.emit('scoped', { n }, { eventId: `e${n % 4}` });
    await until('all events are streamed', () => told.length >= 4);
    const expected = [1, 2, 3, 0].map((n) => `${named('scoped')} e${n}`);
    expect(told).toEqual(expected);
    const { events } = await ada('events/poll', { name: named('scoped'), cursor });
    expect((events as JsonObject[]).map(({ name, eventId }) => `${name} ${eventId}`)).toEqual(expected);
    stop.abort();
    await ended;
  } finally {
    stop.abort();
    for (const close of closing.reverse()) await close();
  }
}

test('events keep their names, ids and order through random stacks, and callers get those that every layer allows', async () => {
  await fc.assert(fc.asyncProperty(fc.array(layer, { maxLength: 4 }) as fc.Arbitrary<LayerSpec[]>, holds), {
    numRuns: 40,
  });
});
