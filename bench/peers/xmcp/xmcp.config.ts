export default {
  http: { port: 39017, host: '127.0.0.1', endpoint: '/mcp' },
  stdio: true,
  paths: { tools: 'src/tools', prompts: false, resources: false },
};
