// Compiles resources and templates.

import type { ListedResource, ListedTemplate } from '../../protocol/model/model.js';
import { parseTemplate, type UriTemplate } from '../../protocol/uri-template/template.js';
import type { GuardedOptions, ServerAccess } from '../access/access.js';
import type { Guarded } from '../access/views.js';
import type { Context } from '../context/context.js';
import type { Mounted } from '../context/handler-run.js';
import type { Completer } from '../define/definition.js';
import type { ListRequest, Resource, ResourceOptions, SubscriptionHook } from '../define/resource.js';
import type { TemplateValues } from '../define/template-values.js';
import { checkFunction, readCompleters } from './check-functions.js';
import { listDescription } from './description.js';

type Read = (values: TemplateValues, ctx: Context & { readonly uri: string }) => unknown;

interface CompiledReader extends Guarded {
  readonly read: Read;
  readonly mimeType: string | undefined;
  /** The time that clients may keep the contents; undefined if the definition does not say it. */
  readonly ttlMs: number | undefined;
  readonly cacheScope: 'public' | 'private';
  readonly complete: ReadonlyMap<string, Completer>;
  /** The options that rules follow from. */
  readonly options: GuardedOptions;
  readonly mounted?: Mounted;
  /** Called for the first subscriber and after the last one; undefined if there are none. */
  readonly hooks: SubscriptionHooks | undefined;
}

/** The functions that are called for the first subscriber of a resource and after the last one. */
export interface SubscriptionHooks {
  readonly onSubscribe: SubscriptionHook<TemplateValues, unknown> | undefined;
  readonly onUnsubscribe: SubscriptionHook<TemplateValues, unknown> | undefined;
}

/** A resource, prepared for its calls. */
export interface CompiledResource extends CompiledReader {
  readonly uri: string;
  readonly listed: ListedResource;
}

/** A template, prepared for its calls. */
export interface CompiledTemplate extends CompiledReader {
  readonly uri: string;
  readonly template: UriTemplate;
  /** The template without the names of its variables. Two templates of the same shape match the same URIs. */
  readonly shape: string;
  readonly listed: ListedTemplate;
  /** Whether a URI belongs to another resource, which is hidden. The template does not read it then. */
  readonly isHidden?: ((uri: string) => boolean) | undefined;
  readonly list: ((ctx: Context, request: ListRequest) => unknown) | undefined;
}

/** Compiles a resource or a template. Throws an error that describes the mistake in the definition. */
export function compileResource(
  uri: string,
  { options, read }: Resource,
  { access: rules }: { readonly access: ServerAccess },
): CompiledResource | CompiledTemplate {
  checkFunction('read', read);
  const { mimeType, annotations, size, list, ttlMs, cacheScope = 'private' } = options;
  const complete = readCompleters(options.complete);
  const description = {
    name: options.name ?? uri,
    ...listDescription(options),
    ...(mimeType !== undefined && { mimeType }),
    ...(annotations && { annotations }),
  };
  const access = rules.of({ kind: 'resource', name: uri }, options as GuardedOptions);
  if (access !== undefined && cacheScope === 'public')
    throw new TypeError(
      '"cacheScope" is "public", so that a cache may give the contents to every caller, but rules decide who may read them. Remove "cacheScope" or the rules.',
    );
  const compiled = {
    ...{ uri, read: read as Read, mimeType, ttlMs: ttlMs, cacheScope, complete },
    access,
    options: options as GuardedOptions,
    hooks: readHooks(options),
  };
  // A URI with a single brace is a template with a mistake.
  if (!/[{}]/.test(uri)) {
    if (!URL.canParse(uri)) throw new TypeError('a resource needs an absolute URI, such as "config://app"');
    if (list !== undefined)
      throw new TypeError('"list" is only for templates: a resource with a fixed URI is always listed');
    if (complete.size > 0) throw new TypeError('"complete" is only for templates: this URI has no variables');
    return { ...compiled, listed: { uri, ...description, ...(size !== undefined && { size }) } };
  }
  const template = parseTemplate(uri);
  for (const variable of complete.keys()) {
    if (!template.variables.includes(variable)) {
      throw new TypeError(
        `"complete" names "${variable}", but the variables are: ${template.variables.join(', ')}`,
      );
    }
  }
  if (list !== undefined) checkFunction('list', list);
  return {
    ...compiled,
    template,
    shape: shapeOf(uri),
    listed: { uriTemplate: uri, ...description },
    list: list as CompiledTemplate['list'],
  };
}

function readHooks({ onSubscribe, onUnsubscribe }: ResourceOptions): SubscriptionHooks | undefined {
  if (onSubscribe !== undefined) checkFunction('onSubscribe', onSubscribe);
  if (onUnsubscribe !== undefined) checkFunction('onUnsubscribe', onUnsubscribe);
  return onSubscribe === undefined && onUnsubscribe === undefined
    ? undefined
    : { onSubscribe, onUnsubscribe };
}

/** The template without the names of its variables, except in `{;a}`, `{?a}` and `{&a}`, where they are part of the URI. */
export function shapeOf(template: string): string {
  return template.replaceAll(
    /\{([^{};?&][^{}]*)\}/g,
    (_, inside: string) => `{${inside.replaceAll(/[\w%]+(?=[,*:]|$)/g, '_')}}`,
  );
}
