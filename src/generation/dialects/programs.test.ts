import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { anthropicMessages } from './anthropic/anthropic-messages.ts'
import type { Dialect } from './dialect.ts'
import { openAiChat } from './openai-chat/openai-chat.ts'
import { openAiResponses } from './openai-responses/openai-responses.ts'

const schema = { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false }
const described = { name: 'read', description: 'Reads a file.' }
const ephemeral = { cache_control: { type: 'ephemeral' } }

const asking = { role: 'user', content: 'Change the note.' }
const system = { role: 'system', content: 'You are an agent.' }
const streamed = { model: 'fast', stream: true, stream_options: { include_usage: true } }
const tools = [{ type: 'function', function: { ...described, parameters: schema } }]
const call = { id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }
const patch = '*** Begin Patch\n*** Update File: note.txt\n@@\n-one\n+two\n*** End Patch'
const patchTool = {
  type: 'custom',
  name: 'ApplyPatch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: begin_patch hunk+ end_patch' },
}
const result = { role: 'tool', tool_call_id: 'c1', content: 'one' }

/**
 * Requests in the middle of a task, shortened, and the roles that the model gets: as the programs of tests/programs sent them, and as the
 * sources of the others write them.
 */
const sent: Readonly<Record<string, { dialect: Dialect; body: object; roles: string; needs?: readonly string[] }>> = {
  'Claude Code': {
    dialect: anthropicMessages,
    body: {
      model: 'fast',
      max_tokens: 32_000,
      stream: true,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      metadata: { user_id: '{"device_id":"d","account_uuid":"","session_id":"s"}' },
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=2; cc_entrypoint=sdk-cli;' },
        { type: 'text', text: 'You are a Claude agent.', ...ephemeral },
      ],
      tools: [{ ...described, input_schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Change the note.' }] },
        { role: 'system', content: 'Available agent types.' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me look.' },
            { type: 'tool_use', id: 'c1', name: 'read', input: { path: 'note.txt' } },
          ],
        },
        {
          role: 'user',
          content: [{ tool_use_id: 'c1', type: 'tool_result', content: 'one', is_error: false, ...ephemeral }],
        },
      ],
    },
    roles: 'system user system assistant user',
  },
  'Codex CLI': {
    dialect: openAiResponses,
    body: {
      model: 'fast',
      stream: true,
      store: false,
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning: { summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'p',
      client_metadata: { turn_id: 't', 'x-codex-window-id': 'w:0' },
      tools: [
        { type: 'function', ...described, strict: false, parameters: schema },
        {
          type: 'namespace',
          name: 'agents',
          description: 'Agents.',
          tools: [{ type: 'function', ...described, strict: false, parameters: schema }],
        },
        { type: 'web_search', external_web_access: true },
      ],
      input: [
        { type: 'message', id: 'm1', role: 'developer', content: [{ type: 'input_text', text: 'You are an agent.' }] },
        { type: 'message', id: 'm2', role: 'user', content: [{ type: 'input_text', text: 'Change the note.' }] },
        {
          type: 'message',
          id: 'm3',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Let me look.', annotations: [], logprobs: [] }],
        },
        { type: 'function_call', id: 'f1', status: 'completed', call_id: 'c1', name: 'read', arguments: '{}' },
        { type: 'function_call_output', id: 'o1', call_id: 'c1', output: 'one' },
      ],
    },
    roles: 'system user assistant user',
  },
  'Codex CLI with a model that it knows': {
    dialect: openAiResponses,
    body: {
      model: 'gpt',
      stream: true,
      store: false,
      parallel_tool_calls: false,
      reasoning: { effort: 'low', context: 'all_turns' },
      text: { verbosity: 'low' },
      tools: [
        { type: 'function', ...described, strict: false, parameters: schema },
        { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: schema },
      ],
      input: [
        {
          type: 'additional_tools',
          id: 'at_1',
          role: 'developer',
          tools: [
            {
              type: 'namespace',
              name: 'functions',
              description: '',
              tools: [{ type: 'custom', name: 'exec', description: 'Runs.', format: { type: 'text' } }],
            },
          ],
        },
        { type: 'message', id: 'm1', role: 'user', content: [{ type: 'input_text', text: 'Change the note.' }] },
        { type: 'custom_tool_call', id: 'c1', call_id: 'c1', name: 'exec', namespace: 'functions', input: 'look()' },
        { type: 'custom_tool_call_output', id: 'o1', call_id: 'c1', name: 'exec', output: 'one' },
      ],
    },
    roles: 'user assistant user',
    needs: ['tools', 'forced_tools', 'reasoning', 'verbosity'],
  },
  opencode: {
    dialect: openAiChat,
    body: {
      model: 'fast',
      max_tokens: 32_000,
      stream: true,
      stream_options: { include_usage: true },
      tool_choice: 'auto',
      tools: [{ type: 'function', function: { ...described, parameters: schema } }],
      messages: [
        { role: 'system', content: 'You are an agent.' },
        { role: 'user', content: 'Change the note.' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
      ],
    },
    roles: 'system user assistant user',
  },
  Continue: {
    dialect: openAiChat,
    body: {
      ...streamed,
      tools,
      messages: [system, asking, { role: 'assistant', content: '', tool_calls: [call] }, result],
    },
    roles: 'system user assistant user',
  },
  Cline: {
    dialect: openAiChat,
    body: {
      ...streamed,
      tools,
      tool_choice: 'auto',
      messages: [system, asking, { role: 'assistant', content: null, tool_calls: [call] }, result],
    },
    roles: 'system user assistant user',
  },
  'Cline in an editor': {
    dialect: openAiChat,
    body: {
      ...streamed,
      model: 'gpt',
      tools,
      reasoning_effort: 'medium',
      messages: [
        { ...system, role: 'developer' },
        { role: 'user', content: [{ type: 'text', text: 'Change the note.' }] },
        { role: 'assistant', content: 'Let me look.', tool_calls: [call] },
        result,
        { role: 'user', content: [{ type: 'text', text: 'And then?' }] },
      ],
    },
    roles: 'system user assistant user',
    needs: ['tools', 'forced_tools', 'reasoning'],
  },
  Cursor: {
    dialect: openAiChat,
    body: {
      model: 'gpt',
      stream: true,
      temperature: 0,
      user: 'u',
      tools,
      tool_choice: 'auto',
      reasoning: { effort: 'high', summary: 'auto' },
      messages: [
        system,
        asking,
        asking,
        { role: 'assistant', content: 'Let me look.', tool_calls: [{ ...call, index: 0 }] },
        result,
      ],
    },
    roles: 'system user user assistant user',
    needs: ['tools', 'forced_tools', 'reasoning'],
  },
  // As servers that others wrote for it have recorded.
  'Cursor with a tool for patches': {
    dialect: openAiChat,
    body: {
      ...streamed,
      model: 'gpt',
      user: 'u',
      tools: [...tools, patchTool],
      messages: [
        system,
        asking,
        {
          role: 'assistant',
          content: [],
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'ApplyPatch', arguments: patch } }],
        },
        result,
      ],
    },
    roles: 'system user assistant user',
  },
  'Cursor in the form of a response': {
    dialect: openAiChat,
    body: {
      ...streamed,
      model: 'gpt',
      user: 'u',
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_retention: '24h',
      reasoning: { effort: 'medium', summary: 'auto' },
      text: { verbosity: 'low' },
      metadata: { cursorConversationId: '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11' },
      tools: [{ type: 'function', ...described, parameters: schema, strict: false }, patchTool],
      tool_choice: 'auto',
      input: [
        system,
        { role: 'user', content: [{ type: 'input_text', text: 'Change the note.' }] },
        { type: 'function_call', call_id: 'c1', name: 'ApplyPatch', arguments: patch },
        { type: 'function_call_output', call_id: 'c1', output: 'one' },
      ],
    },
    roles: 'system user assistant user',
    needs: ['tools', 'forced_tools', 'reasoning', 'verbosity'],
  },
  Zed: {
    dialect: openAiChat,
    body: {
      ...streamed,
      max_completion_tokens: 8192,
      temperature: 1,
      parallel_tool_calls: false,
      prompt_cache_key: 'thread',
      tools,
      tool_choice: 'auto',
      messages: [
        system,
        { role: 'user', content: [{ type: 'text', text: 'Change the note.' }] },
        { role: 'assistant', content: null, tool_calls: [call] },
        { ...result, content: [{ type: 'text', text: 'one' }] },
      ],
    },
    roles: 'system user assistant user',
  },
  n8n: {
    dialect: openAiChat,
    body: {
      ...streamed,
      n: 1,
      temperature: 0.7,
      frequency_penalty: 0,
      presence_penalty: 0,
      tools,
      tool_choice: 'auto',
      messages: [system, asking, { role: 'assistant', content: '', tool_calls: [call] }, { ...result, name: 'read' }],
    },
    roles: 'system user assistant user',
  },
  Aider: {
    dialect: openAiChat,
    body: {
      model: 'fast',
      stream: true,
      temperature: 0,
      messages: [
        system,
        asking,
        { role: 'assistant', content: 'Ok.' },
        asking,
        { role: 'assistant', content: 'note', prefix: true },
      ],
    },
    roles: 'system user assistant user assistant',
    needs: [],
  },
  'Open WebUI': {
    dialect: openAiChat,
    body: {
      ...streamed,
      top_p: 0.9,
      min_p: 0.1,
      frequency_penalty: 0.5,
      logit_bias: { 5: -100 },
      messages: [system, asking],
    },
    roles: 'system user',
    needs: [],
  },
  LibreChat: {
    dialect: openAiChat,
    body: {
      ...streamed,
      user: 'u',
      n: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
      messages: [system, { role: 'user', content: [{ type: 'text', text: 'Change the note.' }] }],
    },
    roles: 'system user',
    needs: [],
  },
}

describe('A50 a request of', () => {
  for (const [name, { dialect, body, roles, needs: expected = ['tools', 'forced_tools'] }] of Object.entries(sent)) {
    test(`${name} is read, and needs ${expected.join(', ') || 'only text'}`, () => {
      const { prompt, needs } = dialect.read(body).request
      assert.equal(prompt.messages.map(({ role }) => role).join(' '), roles)
      assert.equal(prompt.tools?.[0]?.name, expected.includes('tools') ? 'read' : undefined)
      assert.deepEqual([...new Set(needs?.map(({ capability }) => capability))], expected)
    })
  }
})
