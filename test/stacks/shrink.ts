// Makes a stack and its program smaller, for as long as they fail.

import type { LayerSpec, StackSpec } from './spec.js';

/** The smallest stack that still fails. */
export async function shrink(
  spec: StackSpec,
  fails: (smaller: StackSpec) => Promise<boolean>,
): Promise<StackSpec> {
  for (let left = 400; left > 0; ) {
    let found: StackSpec | undefined;
    for (const smaller of smallerOnes(spec)) {
      if (left-- <= 0) break;
      if (!(await fails(smaller))) continue;
      found = smaller;
      break;
    }
    if (found === undefined) return spec;
    spec = found;
  }
  return spec;
}

function* smallerOnes(spec: StackSpec): Generator<StackSpec> {
  const { program, top } = spec;
  for (let size = program.length >> 1; size > 0; size >>= 1)
    for (let at = 0; at + size <= program.length; at += size)
      yield { ...spec, program: [...program.slice(0, at), ...program.slice(at + size)] };
  for (const smaller of smallerLayers(top)) yield { ...spec, top: smaller };
  if (spec.wire !== 'raw') yield { ...spec, wire: 'raw' };
}

function* smallerLayers(layer: LayerSpec): Generator<LayerSpec> {
  if (layer.kind === 'proxy' || layer.kind === 'mount') yield layer.of;
  if (layer.kind === 'gateway') for (const { of } of layer.members) yield of;
  for (let at = 0; at < layer.use.length; at++)
    yield { ...layer, use: layer.use.filter((_, index) => index !== at) };
  if (layer.search) yield { ...layer, search: false };
  if (layer.kind === 'server' && layer.policy) yield { ...layer, policy: false };
  if (layer.kind === 'mount') {
    if (layer.transform !== undefined) yield { ...layer, transform: undefined };
    for (const of of smallerLayers(layer.of)) yield { ...layer, of: of as never };
  }
  if (layer.kind === 'proxy') for (const of of smallerLayers(layer.of)) yield { ...layer, of };
  if ((layer.kind === 'proxy' || layer.kind === 'gateway') && layer.link !== 'memory')
    yield { ...layer, link: 'memory' };
  if (layer.kind !== 'gateway') return;
  const { members } = layer;
  if (members.length > 1) for (const member of members) yield { ...layer, members: [member] };
  for (let at = 0; at < layer.hides.length; at++)
    yield { ...layer, hides: layer.hides.filter((_, index) => index !== at) };
  if (layer.pins) yield { ...layer, pins: false };
  for (const [at, { name, of }] of members.entries())
    for (const smaller of smallerLayers(of))
      yield {
        ...layer,
        members: members.map((member, index) => (index === at ? { name, of: smaller } : member)),
      };
}
