// The parts of a server that a scenario of the official suite needs: things that a server has only for this test, or the proxy in front of it.

import type { Client } from '../../../../client/model/client.js';
import { parseTemplate } from '../../../../protocol/uri-template/template.js';

/** The tool, prompt or resource that a scenario uses. A server without it has nothing that the scenario could test. */
const fixtures: ReadonlyMap<string, string> = new Map([
  ['completion-complete', 'test_prompt_with_arguments'],
  ['tools-call-simple-text', 'test_simple_text'],
  ['tools-call-image', 'test_image_content'],
  ['tools-call-audio', 'test_audio_content'],
  ['tools-call-embedded-resource', 'test_embedded_resource'],
  ['tools-call-mixed-content', 'test_multiple_content_types'],
  ['tools-call-with-logging', 'test_tool_with_logging'],
  ['tools-call-error', 'test_error_handling'],
  ['tools-call-with-progress', 'test_tool_with_progress'],
  ['tools-call-sampling', 'test_sampling'],
  ['tools-call-elicitation', 'test_elicitation'],
  ['json-schema-2020-12', 'json_schema_2020_12_tool'],
  ['elicitation-sep1034-defaults', 'test_elicitation_sep1034_defaults'],
  ['elicitation-sep1330-enums', 'test_elicitation_sep1330_enums'],
  ['server-sse-polling', 'test_reconnection'],
  ['resources-read-text', 'test://static-text'],
  ['resources-read-binary', 'test://static-binary'],
  ['resources-templates-read', 'test://template/123/data'],
  ['prompts-get-simple', 'test_simple_prompt'],
  ['prompts-get-with-args', 'test_prompt_with_arguments'],
  ['prompts-get-embedded-resource', 'test_prompt_with_embedded_resource'],
  ['prompts-get-with-image', 'test_prompt_with_image'],
  ['input-required-result-basic-elicitation', 'test_input_required_result_elicitation'],
  ['input-required-result-basic-sampling', 'test_input_required_result_sampling'],
  ['input-required-result-basic-list-roots', 'test_input_required_result_list_roots'],
  ['input-required-result-request-state', 'test_input_required_result_request_state'],
  ['input-required-result-multiple-input-requests', 'test_input_required_result_multiple_inputs'],
  ['input-required-result-multi-round', 'test_input_required_result_multi_round'],
  ['input-required-result-missing-input-response', 'test_input_required_result_elicitation'],
  ['input-required-result-non-tool-request', 'test_input_required_result_prompt'],
  ['input-required-result-result-type', 'test_input_required_result_elicitation'],
  ['input-required-result-tampered-state', 'test_input_required_result_tampered_state'],
  ['input-required-result-capability-check', 'test_input_required_result_capabilities'],
  ['input-required-result-ignore-extra-params', 'test_input_required_result_elicitation'],
  ['input-required-result-validate-input', 'test_input_required_result_elicitation'],
]);

/** The tool, prompt or resource that a scenario needs and the server does not have; undefined if nothing is missing. */
export function missingFixture(scenario: string, offered: ServerOffers): string | undefined {
  const name = fixtures.get(scenario);
  return name === undefined || offered.has(name) ? undefined : name;
}

/** Whether a scenario that is run through a proxy tests the proxy: it is about HTTP, or about what each connection has of its own. */
export function testsProxy(scenario: string): boolean {
  return /^(dns-|http-|server-|ping$|logging-set-level$)/.test(scenario);
}

export interface ServerOffers {
  /** Whether the server has a tool or a prompt of this name, or a resource at this URI. */
  readonly has: (name: string) => boolean;
}

/** Asks a server for everything that it offers. */
export async function offeredBy(client: Client): Promise<ServerOffers> {
  const { tools, prompts, resources } = client.server.capabilities;
  const names = await Promise.all([tools ? client.tools().all() : [], prompts ? client.prompts().all() : []]);
  const uris = resources ? await client.resources().all() : [];
  const templates = resources ? await client.templates().all() : [];
  const all = new Set([...names.flat().map(({ name }) => name), ...uris.map(({ uri }) => uri)]);
  return {
    has: (name) => all.has(name) || templates.some(({ uriTemplate }) => matches(uriTemplate, name)),
  };
}

function matches(template: string, uri: string): boolean {
  try {
    return parseTemplate(template).match(uri) !== undefined;
  } catch {
    return false;
  }
}
