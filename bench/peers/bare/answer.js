// What a program without a library does: reads the call and prints its answer, in the shape of the revision that asked.
const info = { name: 'bench', version: '1.0.0' };
const modern = { resultType: 'complete', _meta: { 'io.modelcontextprotocol/serverInfo': info } };

/** @param {string} text */
export function answer(text) {
  const { id, method, params } = JSON.parse(text);
  if (id === undefined) return undefined;
  if (method === 'initialize')
    return printed(id, {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: info,
    });
  const content = [{ type: 'text', text: params.arguments.text }];
  return printed(id, params._meta === undefined ? { content } : { content, ...modern });
}

function printed(id, result) {
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}
