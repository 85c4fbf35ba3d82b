// The tool of programs and its engine, for a server with the option `code`. Only the entry of the engine loads it.

import { late } from '../../async/late.js';
import type { CodeEngine } from '../../protocol/code/code-engine.js';
import { CODE_TOOL } from '../../protocol/code/code-options.js';
import { CALL_TOOL, SEARCH_TOOL } from '../../protocol/model/search/search-tools.js';
import { policyTool } from '../access/access.js';
import type { CodeFrontParts, SearchFront } from '../search/search-front.js';
import type { ApprovalParts } from './approvals.js';
import type { CodeHost } from './code-host.js';
import { codeTool, describeSearch, MAX_CALLS } from './code-tool.js';
import { declarationsOf } from './declarations.js';
import { openRealms } from './open-realms.js';

/**
 * Makes the tools of a server with programs. With `code` alone, tools are found and called by programs; with `search` as well, also one by
 * one; with `search: false`, they are all listed. The engine is opened with the first program, and closes with the server.
 */
export function codeFront(engine: Pick<CodeEngine, 'id' | 'open'>, parts: CodeFrontParts): SearchFront {
  const { search, maxCalls = MAX_CALLS, approve, hasUser, attach, defaults, make, compile } = parts;
  const finds = search !== false;
  const hasSearch = finds && search !== undefined;
  const host = late<CodeHost>('the host of programs');
  const { realms, close } = openRealms(engine);
  attach({ close });
  const settings = { engine, maxCalls };
  const toolOf: ApprovalParts['toolOf'] = async (caller, name) => {
    const visible = await parts.server().registry.tools.entries(caller);
    const tool = visible.find((one) => one.name === name);
    return tool && policyTool(name, tool.options);
  };
  const approval = approve && { approve, toolOf, log: defaults.log };
  const finding = make({ description: describeSearch(hasSearch), print: declarationsOf });
  const tools = new Map(finds ? finding.tools : []);
  if (!hasSearch) tools.delete(CALL_TOOL);
  tools.set(
    CODE_TOOL,
    compile(
      defaults,
      CODE_TOOL,
      codeTool({ ...settings, finds, asks: approve !== undefined, isTask: true }, host.get),
    ),
  );
  return {
    tools,
    lists: (name) => !finds || tools.has(name) || finding.lists(name),
    around(dispatch) {
      const isFront = (name: string): boolean => tools.has(name) && name !== SEARCH_TOOL;
      host.provide({ settings, dispatch, realms, approval, hasUser, isFront });
      const found = finding.around(dispatch);
      return hasSearch ? found : dispatch;
    },
  };
}
