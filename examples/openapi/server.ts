import { createServer, tool } from 'fullmcp';
import { fromOpenAPI } from 'fullmcp/openapi';
import { shopDocument, startShopApi } from './shop-api.js';

export const shop = await startShopApi();

// #region server
const api = await fromOpenAPI(shopDocument, {
  baseUrl: shop.url, // the API is on a private network, so you say where
  credentials: { token: process.env['SHOP_TOKEN'] ?? 'demo' },
  rules: [
    { tags: ['internal'], as: 'nothing' },
    { operationId: 'getOrder', as: 'resource' },
  ],
});

export const server = createServer({ ...api, name: 'shop' });
// #endregion

// #region callers
const perCaller = await fromOpenAPI(shopDocument, {
  baseUrl: shop.url,
  credentials: {
    token: ({ request }) => request?.header('x-shop-token'), // undefined: the call fails before anything is sent
  },
  headers: ({ auth }) => ({ 'X-Actor': auth?.subject }),
});
// #endregion

// #region own
const greet = tool({ run: () => 'Hello' });
const withOwn = await fromOpenAPI(shopDocument, {
  baseUrl: shop.url,
  credentials: { token: 'demo' },
  tools: { greet },
  toolName: ({ operationId }) => operationId && `shop_${operationId}`,
});
// #endregion

// #region trimming
const trimmed = await fromOpenAPI(shopDocument, {
  baseUrl: shop.url,
  credentials: { token: 'demo' },
  output: 'pass',
  rules: [{ operationId: 'listOrders', pick: ['items.id'], maxChars: 20_000 }],
});
// #endregion

export const servers = {
  perCaller: createServer({ ...perCaller }),
  withOwn: createServer({ ...withOwn }),
  trimmed: createServer({ ...trimmed }),
};
