import { inputRequired, tool } from 'fullmcp';
import { z } from 'zod';

// #region raw
export const survey = tool({
  description: 'Ask for a rating, with the raw messages of the protocol',
  input: z.object({ topic: z.string() }),
  run: ({ topic }, { resumed }) => {
    if (resumed === undefined) {
      const params = {
        mode: 'form',
        message: `How do you like ${topic}, from 1 to 5?`,
        requestedSchema: { type: 'object', properties: { stars: { type: 'integer' } }, required: ['stars'] },
      };
      return inputRequired({ rating: { method: 'elicitation/create', params } }, { askedAt: Date.now() });
    }
    return { answer: resumed.answers['rating'], state: resumed.state };
  },
});
// #endregion
