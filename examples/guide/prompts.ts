import { assistant, createServer, prompt, user } from 'fullmcp';
import { z } from 'zod';

const languages = ['typescript', 'python', 'rust'];

export default createServer({
  name: 'guide-prompts',
  version: '1.0.0',
  // #region prompts
  prompts: {
    review: prompt({
      description: 'Review code',
      args: z.object({ code: z.string(), language: z.string().optional() }),
      complete: { language: (typed) => languages.filter((name) => name.startsWith(typed)) },
      run: ({ code, language }) => `Review this ${language ?? 'code'}:\n${code}`,
    }),
    interview: prompt({
      run: () => [user('Ask me about my project.'), assistant('What is it called?')],
    }),
  },
  // #endregion
});
