import type { ExampleValues } from '../platform/http/examples.ts'

/** A model with its price, for the documentation. */
export const pricedModelExamples = {
  'Models and prices': {
    model: 'tiny',
    'models.id': 'tiny',
    kind: 'text',
    aliases: ['default'],
    context: 1024,
    max_output_tokens: 512,
    capabilities: ['forced_tools', 'json'],
    fallback: null,
    reason: null,
    input: '0.10',
    output: '0.40',
    'setPrice.request': { input: '0.12', output: '0.48', valid_from: '2026-04-01' },
    'setPrice.response.input': '0.12',
    'setPrice.response.output': '0.48',
    'setPrice.response.valid_from': '2026-04-01T00:00:00.000Z',
    public_id: '4XkQ7mZp9RtB',
    'keys.name': 'backend',
    'account.name': 'Acme',
    unlimited_keys: 1,
    currency: 'GBP',
  },
} satisfies ExampleValues
