// The templates of `fullmcp new`.

import { gateway } from './gateway.js';
import { httpAuth } from './http-auth.js';
import { minimal } from './minimal.js';
import { openapi } from './openapi.js';
import { type Choices, commonFiles, type Files, type Template } from './template.js';

export type TemplateName = 'minimal' | 'http-auth' | 'gateway' | 'openapi';

export const templates: Readonly<Record<TemplateName, Template>> = {
  minimal,
  'http-auth': httpAuth,
  gateway,
  openapi,
};

/** All files of a project. */
export function projectFiles(name: TemplateName, choices: Choices): Files {
  const template = templates[name];
  return { ...commonFiles(template, choices), ...template.files(choices) };
}
