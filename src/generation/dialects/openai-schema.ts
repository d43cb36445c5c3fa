import { Type } from 'typebox'
import { metadata, sampling } from '../schema.ts'

/** The fields that the bodies of chat completions and of responses have in common. */
export const openAiFields = {
  temperature: sampling.temperature,
  top_p: sampling.top_p,
  stream: Type.Optional(Type.Boolean({ description: 'Stream the reply as server-sent events.' })),
  user: Type.Optional(Type.String({ maxLength: 512, description: 'Your identifier of the end user. Ignored.' })),
  metadata: Type.Optional(metadata),
  parallel_tool_calls: Type.Optional(
    Type.Boolean({ description: "Whether a reply may contain several tool calls. Default: the model's." }),
  ),
  prompt_cache_key: Type.Optional(
    Type.String({
      format: 'text',
      maxLength: 1024,
      description: 'Requests with the same key are likely to share the beginning of their prompts.',
    }),
  ),
}

export const verbosity = Type.Optional(
  Type.Enum(['low', 'medium', 'high'], { description: 'How much the model should write. Default medium.' }),
)
