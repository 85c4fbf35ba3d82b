/** A tool of the catalogue, as a server lists it. */
export interface CatalogueTool {
  name: string;
  description: string;
  inputSchema: { type: 'object'; properties: Record<string, { type: 'string'; description?: string }> };
}

/** The tools of the catalogue. */
export function readCatalogue(): CatalogueTool[];

/** The questions of one half, with the tool that answers each. */
export function readQuestions(half: 'tuned' | 'held out'): { question: string; tool: string }[];
