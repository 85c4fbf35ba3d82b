// The entry `fullmcp/code`: the engine that runs the programs of models.

export { type QuickJSOptions, quickjs } from './adapters/quickjs/quickjs.js';
export type {
  CodeCall,
  CodeEnd,
  CodeEngine,
  CodeProgram,
  CodeRealm,
  CodeRealms,
  CodeResult,
  CodeTurn,
} from './protocol/code/code-engine.js';
