// The targets of a proxy as one server: a single one as it is, several as a gateway.

import type { ConnectOptions } from '../../../../connect/targets/options.js';
import { type McpConfig, resolveTarget, type ServerEntry } from '../../../../connect/targets/target.js';
import { gateway } from '../../../../gateway.js';
import type { ClientAuth } from '../../../../protocol/model/client-auth.js';
import { proxy } from '../../../../proxy.js';
import type { Typed } from '../../../command/definition.js';
import { usageError } from '../../../command/failures.js';
import { projectServers } from '../../../target/configured.js';
import { loginServer } from '../../../target/login/login-folder.js';
import { connectOptions } from '../../../target/open.js';
import { type TypedTarget, takeTarget } from '../../../target/read-target.js';

const MAX_NAME = 64;

/** A server to serve, which starts its targets when they are needed. */
export type OneServer = ReturnType<typeof proxy> | ReturnType<typeof gateway>;

/** Makes the server. With `login`, the person may be asked to log in where a target needs it. */
export async function oneServer(input: Typed, login: ClientAuth | undefined): Promise<OneServer> {
  const targets = await targetsOf(input);
  const pin = input.text('pin');
  const search = input.flag('search');
  const [only] = targets;
  if (
    only &&
    targets.length === 1 &&
    !only.isConfigured &&
    pin === undefined &&
    input.text('name') === undefined
  )
    return proxy(only.target.target, { ...optionsFor(input, only.target, login), search });
  refuseShared(input, targets);
  const entries = targets.map(({ name, target, isDisabled }) => {
    const entry = entryOf(target, optionsFor(input, target, login));
    return [name, isDisabled ? { ...entry, disabled: true } : entry] as const;
  });
  const config: McpConfig = { mcpServers: Object.fromEntries(entries) };
  const revision = connectOptions(input, (only as NamedTarget).target).revision;
  return gateway(config, {
    name: input.text('name') ?? 'gateway',
    search,
    ...(pin !== undefined && { pins: { file: pin } }),
    ...(revision !== undefined && { revision }),
  });
}

interface NamedTarget {
  readonly name: string;
  readonly target: TypedTarget;
  /** Whether it is one of the servers of a config, which all have their prefixes, even a single one. */
  readonly isConfigured: boolean;
  readonly isDisabled: boolean;
}

async function targetsOf(input: Typed): Promise<readonly NamedTarget[]> {
  const found: NamedTarget[] = [];
  const add = (name: string, more: Omit<NamedTarget, 'name'>): void => {
    if (found.some((other) => other.name === name))
      throw usageError(`Two servers are called ${JSON.stringify(name)}. Give them names: name=target.`);
    found.push({ name, ...more });
  };
  for (const word of input.words) {
    if (/\.json$/i.test(word)) {
      for (const [name, { entry }] of await projectServers(word)) {
        const alone = { ...input, ...withConfig(input, word), words: [name], process: undefined };
        const { target } = await takeTarget(alone);
        add(name, { target, isConfigured: true, isDisabled: entry.disabled === true });
      }
      continue;
    }
    const [, given, rest] = /^([\w-]+)=(.+)$/s.exec(word) ?? [];
    if (given !== undefined && given.length > MAX_NAME)
      throw usageError(`The name ${JSON.stringify(given)} has more than ${MAX_NAME} characters.`);
    const { target } = await takeTarget({ ...input, words: [rest ?? word], process: undefined });
    const own = target.own === undefined ? `server${found.length + 1}` : target.word;
    add(given ?? own, { target, isConfigured: false, isDisabled: false });
  }
  if (input.process) {
    const { target } = await takeTarget({ ...input, words: [] });
    add(`server${found.length + 1}`, { target, isConfigured: false, isDisabled: false });
  }
  if (found.length === 0) throw usageError(`${input.words.join(' ')} configures no server.`);
  return found;
}

function withConfig(input: Typed, file: string): Pick<Typed, 'text'> {
  return { text: (option) => (option === 'config' ? file : input.text(option)) };
}

/** Options that were typed for one address must not reach another one. */
function refuseShared(input: Typed, targets: readonly NamedTarget[]): void {
  const addresses = targets.filter(({ target }) => isAddress(target));
  if (addresses.length < 2) return;
  for (const option of ['token', 'header'])
    if (input.texts(option).length > 0)
      throw usageError(
        `--${option} would go to ${addresses.length} servers. Put it beside the server that it is for, in a config.`,
      );
}

function optionsFor(input: Typed, target: TypedTarget, login: ClientAuth | undefined): OwnOptions {
  const several = input.words.length + (input.process ? 1 : 0) > 1;
  // The token of the environment is for one server that was typed, not for all of them.
  const own = several && target.own === undefined ? { ...target, own: {} } : target;
  const { signal, reconnect, timeoutMs, ...options } = connectOptions(input, own);
  const mayLogIn = login && typeof options.auth !== 'string' && target.own?.auth === undefined;
  return mayLogIn && loginServer(target.target) !== undefined ? { ...options, auth: login } : options;
}

type OwnOptions = Omit<ConnectOptions, 'signal' | 'reconnect' | 'timeoutMs'>;

function isAddress({ target }: TypedTarget): boolean {
  const { kind } = resolveTarget(target);
  return kind === 'http' || kind === 'websocket';
}

function entryOf({ target }: TypedTarget, { auth, headers, ca, cert, key }: OwnOptions): ServerEntry {
  const resolved = resolveTarget(target);
  if (resolved.kind !== 'http' && resolved.kind !== 'websocket') return { target };
  const options = Object.entries({ auth, ca, cert, key }).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(options),
    url: resolved.url.href,
    headers: { ...(headers as Record<string, string>), ...(resolved.headers as Record<string, string>) },
  };
}
