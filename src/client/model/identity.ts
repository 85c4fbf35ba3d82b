import type { Implementation } from '../../protocol/model/model.js';

/** Who a client is that was not told. The version is the package's. */
export const fullmcp: Implementation = { name: 'fullmcp', version: '0.1.0' };
