// The calls of a program that a person has to approve, and those that were approved.

import type { Call } from '../../protocol/call.js';
import { canonical } from '../../protocol/canonical.js';
import type { CodeCall } from '../../protocol/code/code-engine.js';
import type { CodeOptions } from '../../protocol/code/code-options.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { sha256 } from '../../protocol/encoding/sha256.js';
import type { PolicyTool, ToolUse } from '../../protocol/tool-use.js';
import type { Logger } from '../state/log.js';

/** The kind of a call: `held` until it is approved, `missing` if this caller has no such tool. */
export type CallKind = 'read' | 'change' | 'held' | 'missing';

/** A call that was approved, or is to be: its number in the program, and the digest of its tool and its arguments. */
export type PlannedCall = readonly [seq: number, digest: string];

/** The parts of the server that decide about approvals. */
export interface ApprovalParts {
  readonly approve: NonNullable<CodeOptions['approve']>;
  /** The tool, if the caller sees it. */
  readonly toolOf: (caller: Call, name: string) => Promise<PolicyTool | undefined>;
  readonly log: Logger;
}

/** The approvals of one run of a program. */
export class Approvals {
  readonly #parts: ApprovalParts;
  readonly #call: Call;
  readonly #approved = new Map<number, string>();

  constructor(parts: ApprovalParts, call: Call) {
    this.#parts = parts;
    this.#call = call;
  }

  /** The kind of a call, with the approvals that there are. */
  async kindOf(call: CodeCall): Promise<CallKind> {
    const tool = await this.#parts.toolOf(this.#call, call.name);
    if (tool === undefined) return 'missing';
    const kind = tool.readOnly ? 'read' : 'change';
    return (await this.#needsApproval(tool, call)) && !this.has(call) ? 'held' : kind;
  }

  /** Lets calls be made: exactly these, with exactly these arguments. */
  add(calls: readonly PlannedCall[]): void {
    for (const [seq, digest] of calls) this.#approved.set(seq, digest);
  }

  /** Whether a call is one of those that were approved. */
  has(call: CodeCall): boolean {
    return this.#approved.get(call.seq) === digestOf(call);
  }

  async #needsApproval(tool: PolicyTool, { name, json }: CodeCall): Promise<boolean> {
    const { approve, log } = this.#parts;
    if (approve === 'all') return !tool.readOnly;
    if (approve === 'destructive') return tool.destructive;
    const { auth, isLocal } = this.#call;
    const use: ToolUse = {
      tool,
      auth,
      isLocal: isLocal === true && auth === undefined,
      input: JSON.parse(json) as unknown,
    };
    try {
      // A rule that forgets to return must not let the call pass.
      return (await approve(use)) !== false;
    } catch (error) {
      log('error', `"code.approve" failed for the tool "${name}", so that its call needs an approval`, error);
      return true;
    }
  }
}

/** Names a call by its tool and its arguments. Of full length: a model that chooses the arguments must not find two with the same. */
export function digestOf({ name, json }: CodeCall): string {
  const text = canonical([name, JSON.parse(json)]);
  return encodeBase64Url(sha256(new TextEncoder().encode(text)));
}
