import { z } from 'zod';

export const schema = { text: z.string() };

export const metadata = { name: 'echo', description: 'Returns its text' };

export default function echo({ text }: { text: string }): string {
  return text;
}
