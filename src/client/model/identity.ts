import type { Implementation } from '../../protocol/model/model.js';

/** The name and version of a client by default. The version is the package's. */
export const fullmcp: Implementation = { name: 'fullmcp', version: '0.1.0' };
