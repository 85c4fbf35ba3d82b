import { type ElicitResult, formQuestion, type Question } from '../asking/question.js';

// The question with which a server asks a person to approve a call.

/** The reaction of a person who was asked to approve a call. */
export type ApprovalResult = ElicitResult<{ readonly approve?: unknown }>;

/** The key of the question for approval. No handler has a question with this key. */
export const APPROVAL = 'fullmcp/approval';

const form = {
  type: 'object',
  properties: { approve: { type: 'boolean', title: 'Approve' } },
  required: ['approve'],
} as const;

/** Asks for approval of a subject. An answer counts only for this question, asked about this subject. */
export function approvalQuestion(message: string, subject: string): Question<ApprovalResult> {
  return { ...formQuestion({ message, schema: form }), subject };
}
