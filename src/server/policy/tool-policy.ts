// The policy for one tool: who may use it, and who has to be asked first.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import { canonical } from '../../protocol/canonical.js';
import { McpError } from '../../protocol/errors.js';
import { notCalled } from '../../protocol/tables/failure-texts.js';
import type { PolicyTool, ToolUse } from '../../protocol/tool-use.js';
import type { ToolPolicy } from '../define/policy.js';
import type { Awaitable } from '../define/tool-handler.js';
import type { PolicyInput } from './rules.js';

/** The decision about the use of a tool, with the question for the person who has to approve it. */
export type PolicyDecision =
  | {
      /** The tool may be used, or not. */
      readonly effect: 'allow' | 'deny';
    }
  | {
      /** A person has to approve the call. */
      readonly effect: 'approve';
      /** Makes the question, from the arguments as they were sent. */
      readonly question: (sent: PolicyInput) => string;
    };

/** The parts of a policy for one tool. */
export interface ToolPolicyParts {
  readonly decide: (use: ToolUse) => Awaitable<PolicyDecision>;
  readonly onFailure: (error: unknown) => void;
}

type AsksForApproval = Parameters<ToolPolicy['refusal']>[1];

/** Makes the policy for one tool. A decision that fails denies. */
export function toolPolicy(tool: PolicyTool, { decide, onFailure }: ToolPolicyParts): ToolPolicy {
  const { name } = tool;
  const denial = `${notCalled(name)}the policy of this server does not allow it with these arguments.`;

  function decideFor({ auth, isLocal }: Caller, input: unknown): Awaitable<PolicyDecision> {
    const deny = (error: unknown): PolicyDecision => {
      onFailure(error);
      return { effect: 'deny' };
    };
    try {
      const use = { tool, auth, isLocal: isLocal === true && auth === undefined, input };
      const decision = decide(use);
      return decision instanceof Promise ? decision.catch(deny) : decision;
    } catch (error) {
      return deny(error);
    }
  }

  async function askForApproval(
    message: string,
    ctx: AsksForApproval,
    sent: JsonObject,
  ): Promise<string | undefined> {
    // The message may show only a part of the arguments. The approval is for all of them.
    const answer = await ctx.askForApproval(message, canonical([name, sent])).catch((error: unknown) => {
      if (!McpError.is(error) || error.code !== 'missing_capability') throw error;
      const reason = `${notCalled(name)}a person has to approve this call, and this client cannot ask one.`;
      throw new McpError('missing_capability', `${reason} ${error.message}`, { data: error.data });
    });
    if (answer.action === 'accept' && answer.content.approve === true) return undefined;
    const reason = answer.action === 'cancel' ? 'closed the question' : 'did not approve the call';
    return `${notCalled(name)}the user ${reason}.`;
  }

  return {
    tool,
    denial,
    admits(caller, input) {
      const isAdmitted = ({ effect }: PolicyDecision): boolean => effect !== 'deny';
      const decision = decideFor(caller, input);
      return decision instanceof Promise ? decision.then(isAdmitted) : isAdmitted(decision);
    },
    allows: async (caller, input) => (await decideFor(caller, input)).effect === 'allow',
    async refusal(input: unknown, ctx: AsksForApproval, call: Call) {
      const decision = await decideFor(call, input);
      if (decision.effect === 'allow') return undefined;
      if (decision.effect !== 'approve') return denial;
      const sent = (call.params['arguments'] ?? {}) as JsonObject;
      return askForApproval(decision.question(sent), ctx, sent);
    },
  };
}
