/** A mistake in an OpenAPI document, or in the options of `fromOpenAPI`. The message says where, and what to do. */
export class OpenAPIError extends TypeError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OpenAPIError';
  }
}
