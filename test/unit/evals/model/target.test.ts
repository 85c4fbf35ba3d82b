import { describe, expect, it } from 'vitest';
import { keyOf, modelTarget } from '../../../../src/evals/model/target.js';

describe('A model that is named', () => {
  it.each([
    ['anthropic:claude-x', 'https://api.anthropic.com/v1/messages', 'ANTHROPIC_API_KEY'],
    ['openai:gpt-x', 'https://api.openai.com/v1/responses', 'OPENAI_API_KEY'],
    ['openai-chat:gpt-x', 'https://api.openai.com/v1/chat/completions', 'OPENAI_API_KEY'],
    ['openai-chat:llama3:8b@http://localhost:11434', 'http://localhost:11434/v1/chat/completions', undefined],
    [
      'openai-chat:m@https://gate.example.com/llm/v2/',
      'https://gate.example.com/llm/v2/chat/completions',
      undefined,
    ],
  ])('as %s has the address %s', (name, url, keyName) => {
    expect(modelTarget(name)).toMatchObject({ url: new URL(url), keyName });
  });

  it('gets the key of the vendor at the address of the vendor only', () => {
    const env = { OPENAI_API_KEY: 'secret-of-openai' };
    expect(keyOf(modelTarget('openai:m'), env)).toBe('secret-of-openai');
    expect(keyOf(modelTarget('openai:m@https://elsewhere.example'), env)).toBe('');
    expect(() => keyOf(modelTarget('anthropic:m'), env)).toThrow(
      'Set the environment variable ANTHROPIC_API_KEY.',
    );
  });

  it('refuses a key that no header can carry, without saying it', () => {
    const say = (): string => keyOf(modelTarget('openai:m'), { OPENAI_API_KEY: 'two\nlines-of-secret' });
    expect(say).toThrow('OPENAI_API_KEY has characters');
    expect(say).not.toThrow('secret');
  });

  it.each([
    ['plain http', 'openai-chat:m@http://models.example.com', 'must begin with https://'],
    ['a password', 'openai-chat:m@https://a:b@models.example.com', 'must not have a user name'],
    ['an unknown API', 'gemini:m', 'does not name a model'],
    ['no model', 'openai:', 'does not name a model'],
  ])('with %s is refused', (_what, name, says) => {
    expect(() => modelTarget(name)).toThrow(says);
  });

  it('has checked options', () => {
    expect(() => modelTarget({ api: 'openai', model: 'm', maxTokens: 0 })).toThrow(
      '"maxTokens" must be an integer',
    );
    expect(() => modelTarget({ api: 'openai', model: 'm', price: { input: 1 } as never })).toThrow(
      '"price.output"',
    );
  });
});
