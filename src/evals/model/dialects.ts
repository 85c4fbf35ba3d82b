import type { ModelApi } from '../../testing/mock-model/api.js';
import { anthropicDialect } from './anthropic.js';
import { chatDialect } from './chat.js';
import type { ModelDialect } from './dialect.js';
import { responsesDialect } from './responses.js';

/** The dialects by the names that `toTools` has for the APIs. */
export const dialects: Readonly<Record<ModelApi, ModelDialect>> = {
  anthropic: anthropicDialect,
  openai: responsesDialect,
  'openai-chat': chatDialect,
};
