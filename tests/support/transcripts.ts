import fc from 'fast-check'
import type { CacheMark, Prompt, TextPart, Tool } from '../../src/models/conversation.ts'

/** Generated conversations with tools, in the form in which dialects read them. */

/** Without NUL characters, which requests must not contain. */
export const anyText = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .map((text) => text.replaceAll('\0', '?'))
export const anyWord = fc.stringMatching(/^[a-z]{1,8}$/)
export const anyMark: fc.Arbitrary<{ readonly cache?: CacheMark }> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constantFrom({ cache: {} }, { cache: { ttl: '5m' } }, { cache: { ttl: '1h' } }) },
)
/** Parsed once: JavaScript sorts names that are integers. */
export const anyInput = fc
  .dictionary(fc.oneof(anyWord, anyText), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  .map((input) => JSON.stringify(JSON.parse(JSON.stringify(input))))

export const anyTextPart: fc.Arbitrary<TextPart> = fc
  .tuple(anyText, anyMark)
  .map(([text, mark]) => ({ kind: 'text', text, ...mark }))
const anyTool: fc.Arbitrary<Omit<Tool, 'name' | 'field'>> = fc.record(
  {
    description: anyText,
    parameters: fc
      .dictionary(anyWord, fc.constantFrom({ type: 'string' }, { type: 'array', items: { type: 'integer' } }), {
        noNullPrototype: true,
      })
      .map((properties) => ({ type: 'object', properties })),
    strict: fc.boolean(),
    cache: fc.constantFrom({}, { ttl: '1h' as const }),
  },
  { requiredKeys: ['parameters'], noNullPrototype: true },
)

export const anyTools = (schemaName: string): fc.Arbitrary<Pick<Prompt, 'tools' | 'toolChoice' | 'parallelCalls'>> =>
  fc
    .uniqueArray(fc.tuple(anyWord, anyTool), { minLength: 1, maxLength: 3, selector: ([name]) => name })
    .chain((named) =>
      fc.record(
        {
          tools: fc.constant(
            named.map(([name, tool], index) => ({ name, ...tool, field: `tools[${index}].${schemaName}` })),
          ),
          toolChoice: fc.constantFrom<Prompt['toolChoice']>(
            'auto',
            'required',
            ...named.map(([name]) => ({ tool: name })),
          ),
          parallelCalls: fc.boolean(),
        },
        { requiredKeys: ['tools', 'toolChoice'], noNullPrototype: true },
      ),
    )
