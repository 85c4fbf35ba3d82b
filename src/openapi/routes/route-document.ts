// Makes an OpenAPI document of routes and the schemas that they carry.

import { isObject } from '../../jsonrpc/message.js';
import { listOf, nameOf } from '../document/operations.js';
import type { Json } from '../document/references.js';
import { ComponentSchemas } from '../schema/component-schemas.js';
import type { AppRoute, FoundRoutes, OperationParts } from './app-route.js';
import { parametersOf } from './route-path.js';

/** Makes the document. A route without a description has only the parameters of its path. */
export function routeDocument({ routes, shared }: FoundRoutes, info: object): Json {
  const schemas = new ComponentSchemas(shared);
  const paths = new Map<string, Record<string, unknown>>();
  for (const [at, route] of routes.entries()) {
    const item = paths.get(route.path) ?? {};
    paths.set(route.path, item);
    // The first of two routes is the one that replies.
    if (!Object.hasOwn(item, route.method))
      item[route.method] = new RouteOperation(route, at, schemas).print();
  }
  return {
    openapi: '3.1.0',
    info,
    paths: Object.fromEntries(paths),
    components: { schemas: schemas.all },
  };
}

class RouteOperation {
  readonly #route: AppRoute;
  readonly #parts: OperationParts;
  readonly #at: number;
  readonly #schemas: ComponentSchemas;

  constructor(route: AppRoute, at: number, schemas: ComponentSchemas) {
    this.#route = route;
    this.#parts = route.description ?? {};
    this.#at = at;
    this.#schemas = schemas;
  }

  print(): Json {
    const { operationId, summary, description, tags, deprecated, query, headers } = this.#parts;
    return {
      ...{ operationId, summary, description, tags, deprecated },
      parameters: [
        ...this.#pathParameters(),
        ...this.#parameters('query', query),
        ...this.#parameters('header', headers),
      ],
      ...this.#body(),
      responses: this.#responses(),
    };
  }

  #pathParameters(): readonly Json[] {
    const described = this.#parameters('path', this.#parts.params);
    return parametersOf(this.#route.path).map((name) => ({
      ...(described.find((parameter) => parameter['name'] === name) ?? {
        name,
        in: 'path',
        schema: { type: 'string' },
      }),
      required: true,
    }));
  }

  #parameters(place: 'path' | 'query' | 'header', schema: unknown): readonly Json[] {
    if (schema === undefined) return [];
    const { schema: object } = this.#define(place, schema, 'input');
    if (!isObject(object)) return [];
    const required = listOf(object['required']);
    const properties = isObject(object['properties']) ? object['properties'] : {};
    return Object.entries(properties).map(([name, property]) => ({
      ...{ name, in: place, required: required.includes(name), schema: property },
    }));
  }

  #body(): Json {
    const { body, consumes } = this.#parts;
    if (body === undefined) return {};
    if (isObject(body) && isObject(body['content']) && !('~standard' in body))
      return { requestBody: { required: true, content: this.#content('body', body['content'], 'input') } };
    const types = listOf(consumes).length > 0 ? listOf(consumes) : ['application/json'];
    const schema = { $ref: this.#define('body', body, 'input').ref };
    return {
      requestBody: { required: true, content: Object.fromEntries(types.map((type) => [type, { schema }])) },
    };
  }

  #responses(): Json {
    const replies = Object.entries(this.#parts.responses ?? {}).filter(([status]) =>
      /^2(\d\d|xx)$/i.test(status),
    );
    return Object.fromEntries(
      replies.map(([status, reply]) => [
        status.toUpperCase(),
        { description: 'Success', ...this.#reply(status, reply) },
      ]),
    );
  }

  #reply(status: string, reply: unknown): Json {
    if (isObject(reply) && !('~standard' in reply)) {
      if (isObject(reply['content']))
        return { content: this.#content(`reply${status}`, reply['content'], 'output') };
      if (reply['type'] === 'null') return {};
    }
    const schema = { $ref: this.#define(`reply${status}`, reply, 'output').ref };
    return { content: { 'application/json': { schema } } };
  }

  /** Schemas by media type. */
  #content(part: string, content: Json, io: 'input' | 'output'): Json {
    return Object.fromEntries(
      Object.entries(content).map(([type, media], at) => [
        type,
        isObject(media) && media['schema'] !== undefined
          ? { schema: { $ref: this.#define(`${part}${at}`, media['schema'], io).ref } }
          : {},
      ]),
    );
  }

  #define(part: string, schema: unknown, io: 'input' | 'output'): ReturnType<ComponentSchemas['define']> {
    const { method, path } = this.#route;
    return this.#schemas.define(`route${this.#at}_${part}`, schema, {
      io,
      where: `schema of ${nameOf(method, path)} (${part})`,
    });
  }
}
