import server from './server.js';

await server.start({
  transportType: 'httpStream',
  httpStream: {
    port: Number(process.env.PORT),
    host: '127.0.0.1',
    stateless: true,
    enableJsonResponse: true,
  },
});
