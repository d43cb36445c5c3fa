import { Type, type TSchema } from 'typebox'
import { efforts } from '../../../models/conversation.ts'
import { compileBody } from '../../../platform/http/input/validation.ts'
import { responsesExample } from '../../examples.ts'
import { mostMessages } from '../messages.ts'
import { logprobsSchema, openAiFields, topLogprobs, verbosity } from '../openai.ts'
import { responsesVendorFields } from '../vendor-fields.ts'

/** The bodies of OpenAI's responses. `field-rules.ts` has what becomes of each field, also of those that are refused or without effect. */

/** What `include` asks for log probabilities with. */
export const includedLogprobs = 'message.output_text.logprobs'

const summaries = Type.Enum(['auto', 'concise', 'detailed'])

const fields = {
  model: Type.String({ format: 'filled-text', maxLength: 256, description: 'The id or an alias of a model.' }),
  instructions: Type.Optional(Type.String({ format: 'text', description: 'System instructions.' })),
  max_output_tokens: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: "Maximum tokens to generate. Default: as many as the model's maximum and its context allow.",
    }),
  ),
  reasoning: Type.Optional(
    Type.Object(
      {
        effort: Type.Optional(
          Type.Enum([...efforts], {
            description: "How much the model should think before it replies. Default: the model's.",
          }),
        ),
        summary: Type.Optional({
          ...summaries,
          description: "Whether to return a summary of the reasoning. Default: the model's.",
        }),
        generate_summary: Type.Optional({ ...summaries, description: 'The former name of summary.' }),
      },
      { additionalProperties: false },
    ),
  ),
  include: Type.Optional(
    Type.Array(Type.Enum(['reasoning.encrypted_content', includedLogprobs]), {
      description: `reasoning.encrypted_content is always included. ${includedLogprobs} asks for the log probabilities of the tokens of texts: only for models whose upstream takes logprobs.`,
    }),
  ),
  top_logprobs: topLogprobs,
  ...responsesVendorFields,
  ...openAiFields,
}

/** Checked once the input has been read and is a list. Tools and formats are read afterwards. */
const checked = Type.Object(
  {
    ...fields,
    input: Type.Array(Type.Unknown(), { maxItems: mostMessages }),
    tools: Type.Optional(Type.Unknown()),
    tool_choice: Type.Optional(Type.Unknown()),
    text: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)
export type ResponsesRequest = Type.Static<typeof checked>
export const checkResponsesRequest = compileBody(checked)
/** Checks an input that is a text before it becomes a list, so that a refusal does not name a place in one. */
export const checkTextInput = compileBody(Type.Object({ input: Type.String({ format: 'filled-text' }) }))

const name = Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' })
const schemaOf = (description: string) => Type.Object({}, { additionalProperties: true, description })

const image = Type.Object({
  type: Type.Literal('input_image'),
  image_url: Type.String({
    description:
      'A data URL of a PNG, JPEG, GIF or WebP image: at most 5 MiB and 8000 by 8000 pixels. Or its URL, on a host that the operator has listed.',
  }),
  detail: Type.Optional(
    Type.Enum(['low', 'high', 'auto'], { description: "How much detail the model sees. Default: the vendor's." }),
  ),
})

const file = Type.Object({
  type: Type.Literal('input_file'),
  filename: Type.Optional(Type.String()),
  file_data: Type.String({ description: 'A data URL of a PDF: at most 24 MiB and 600 pages, without a password.' }),
})

const shownText = Type.Object({ type: Type.Enum(['input_text', 'output_text']), text: Type.String() })
const shown = Type.Union([Type.String(), Type.Array(Type.Union([shownText, image, file]))], {
  description: 'A text, or a list of texts, images and documents. Images and documents only from the user or a tool.',
})

const message = Type.Object({
  type: Type.Optional(Type.Literal('message')),
  role: Type.Enum(['system', 'developer', 'user', 'assistant']),
  content: shown,
})

const call = Type.Object({
  type: Type.Literal('function_call'),
  call_id: Type.String(),
  namespace: Type.Optional(Type.String({ description: 'That of the tool, if it is in one.' })),
  name: Type.String(),
  arguments: Type.String({ description: 'The arguments: the text of a JSON object.' }),
})

const result = Type.Object(
  { type: Type.Literal('function_call_output'), call_id: Type.String(), output: shown },
  { description: 'The result of a tool call.' },
)

const reasoning = Type.Object(
  {
    type: Type.Literal('reasoning'),
    summary: Type.Array(Type.Object({ type: Type.Literal('summary_text'), text: Type.String() })),
    encrypted_content: Type.Optional(
      Type.String({ description: 'Required by the vendor to accept the reasoning again: send it back unchanged.' }),
    ),
  },
  { description: "The model's reasoning, as far as it is shown." },
)

const customCall = Type.Object(
  {
    type: Type.Literal('custom_tool_call'),
    call_id: Type.String(),
    namespace: call.properties.namespace,
    name: Type.String(),
    input: Type.String({ description: 'What the model wrote for the tool: any text.' }),
  },
  { description: 'A call of a custom tool.' },
)

const customResult = Type.Object(
  { type: Type.Literal('custom_tool_call_output'), call_id: Type.String(), output: shown },
  { description: 'The result of a call of a custom tool.' },
)

const searchCall = Type.Object(
  {
    type: Type.Literal('tool_search_call'),
    execution: Type.Literal('client'),
    call_id: Type.String(),
    arguments: Type.Object({}, { additionalProperties: true, description: 'The arguments.' }),
  },
  { description: 'A search for tools that the caller runs.' },
)

const functionFields = {
  description: Type.Optional(Type.String()),
  parameters: Type.Optional(
    schemaOf('A JSON schema of type object: at most 64 KiB and 32 levels, without recursion. Default: no arguments.'),
  ),
  strict: Type.Optional(
    Type.Boolean({ description: "Whether the arguments must follow the schema. Default: the vendor's." }),
  ),
}

const grammar = Type.Object(
  {
    type: Type.Enum(['text', 'grammar']),
    syntax: Type.Optional(Type.Enum(['lark', 'regex'])),
    definition: Type.Optional(Type.String()),
  },
  {
    description:
      'For a custom tool: the form of its input. A grammar is explained to the model, and nothing enforces it. Default any text.',
  },
)

const tool = Type.Object({
  type: Type.Enum(['function', 'custom', 'namespace', 'tool_search', 'web_search'], {
    description:
      'A function, a custom tool, whose input is a text, a group of tools, or a search for tools that the caller runs. Models know all of them as functions. web_search reaches models whose price has it, with at most max_tool_calls searches (default 5); for others it is left out beside functions if the model may choose, and refused otherwise.',
  }),
  name: Type.Optional({
    ...name,
    description: 'Models know a function in a namespace as namespace__name: at most 64 characters.',
  }),
  ...functionFields,
  format: Type.Optional(grammar),
  execution: Type.Optional(Type.Literal('client', { description: 'Required of a tool_search.' })),
  tools: Type.Optional(
    Type.Array(
      Type.Object({
        type: Type.Enum(['function', 'custom']),
        name,
        ...functionFields,
        format: Type.Optional(grammar),
      }),
      {
        description: 'For a namespace: its tools. The description of the namespace is added to that of its first tool.',
      },
    ),
  ),
})

const addedTools = Type.Array(tool, { description: 'Tools that the model may call, as in the field tools.' })

const found = Type.Object(
  { type: Type.Literal('tool_search_output'), call_id: Type.String(), tools: addedTools },
  { description: 'What the search of the caller has found.' },
)

const additional = Type.Object({
  type: Type.Literal('additional_tools'),
  role: Type.Literal('developer'),
  tools: addedTools,
})

const toolChoice = Type.Union(
  [
    Type.Enum(['none', 'auto', 'required']),
    Type.Object({ type: Type.Enum(['function', 'custom']), name: Type.String() }),
  ],
  { description: 'Whether the model may or must call a tool, or which one. Default auto.' },
)

const format = Type.Union(
  [
    Type.Object({ type: Type.Enum(['text', 'json_object']) }),
    Type.Object({
      type: Type.Literal('json_schema'),
      name,
      description: Type.Optional(Type.String()),
      schema: schemaOf('A JSON schema: at most 64 KiB and 32 levels, without recursion.'),
      strict: Type.Optional(Type.Boolean()),
    }),
  ],
  { description: 'The form of the reply. Default text.' },
)

export const responsesRequest = Type.Object(
  {
    ...fields,
    input: Type.Union(
      [
        Type.String(),
        Type.Array(
          Type.Union([message, call, result, customCall, customResult, searchCall, found, additional, reasoning]),
        ),
      ],
      {
        description: 'A text, or the conversation so far. The last item is a user message or a tool result.',
      },
    ),
    tools: Type.Optional(Type.Array(tool, { maxItems: 128, description: 'The tools that the model may call.' })),
    tool_choice: Type.Optional(toolChoice),
    text: Type.Optional(Type.Object({ format: Type.Optional(format), verbosity })),
    store: Type.Optional(Type.Boolean({ description: 'Nothing is stored: only false is accepted.' })),
  },
  { additionalProperties: false, examples: [responsesExample.request] },
)

const outputText = Type.Object({
  type: Type.Literal('output_text'),
  text: Type.String(),
  annotations: Type.Array(Type.Unknown(), { maxItems: 0 }),
  logprobs: { ...logprobsSchema, description: 'Empty unless include asks for them.' },
})

const outputItem = Type.Union([
  Type.Object({ id: Type.String(), ...reasoning.properties }),
  Type.Object({
    id: Type.String(),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    status: Type.Enum(['completed', 'incomplete']),
    content: Type.Array(outputText),
  }),
  ...[call, customCall, searchCall].map(({ properties }) =>
    Type.Object({ id: Type.String(), status: Type.Literal('completed'), ...properties }),
  ),
])

const orNull = (schema: TSchema, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
const strict = orNull(Type.Boolean())
const description = orNull(Type.String())

const shownFunction = {
  name,
  description,
  parameters: schemaOf('The JSON schema of the arguments.'),
  strict,
}

const shownTool = Type.Object({
  ...Type.Partial(Type.Object(shownFunction)).properties,
  type: Type.Enum(['function', 'custom', 'namespace', 'tool_search']),
  name: Type.Optional(name),
  description,
  execution: tool.properties.execution,
  format: tool.properties.format,
  tools: Type.Optional(
    Type.Array(
      Type.Object({
        ...Type.Partial(Type.Object(shownFunction)).properties,
        type: Type.Enum(['function', 'custom']),
        name,
        description,
        format: tool.properties.format,
      }),
      { description: 'For a namespace.' },
    ),
  ),
})

const shownFormat = Type.Union([
  Type.Object({ type: Type.Enum(['text', 'json_object']) }),
  Type.Object({
    type: Type.Literal('json_schema'),
    name,
    description,
    schema: schemaOf('The JSON schema of the reply.'),
    strict,
  }),
])

/** What a response repeats of its request, with the defaults of fields that were omitted. */
const repeated = {
  instructions: orNull(Type.String(), 'As in the request.'),
  max_output_tokens: orNull(Type.Integer(), 'As in the request.'),
  metadata: Type.Object({}, { additionalProperties: Type.String(), description: 'As in the request. Default empty.' }),
  parallel_tool_calls: Type.Boolean({ description: 'As in the request. Default true.' }),
  reasoning: orNull(
    Type.Object({ effort: orNull(Type.Enum([...efforts])), summary: orNull(summaries) }),
    'As in the request.',
  ),
  temperature: Type.Number({ description: 'As in the request. Default 0.' }),
  text: Type.Object(
    { format: shownFormat, verbosity },
    { description: 'As in the request. Default a format of type text.' },
  ),
  tool_choice: { ...toolChoice, description: 'As in the request. Default auto.' },
  tools: Type.Array(shownTool, { description: 'As in the request, without a web search. Default empty.' }),
  top_logprobs: Type.Integer({ description: 'As in the request. Default 0.' }),
  top_p: Type.Number({ description: 'As in the request. Default 1.' }),
  prompt_cache_key: Type.Optional(Type.String({ description: 'As in the request.' })),
  user: Type.Optional(Type.String({ description: 'As in the request.' })),
}

/** The same in every response. */
const constant = {
  background: Type.Literal(false),
  error: Type.Null({ description: 'A request that fails gets an error response instead.' }),
  previous_response_id: Type.Null(),
  service_tier: Type.Literal('default'),
  store: Type.Literal(false),
  truncation: Type.Literal('disabled'),
}

export const responsesResponse = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response'),
    created_at: Type.Integer(),
    status: Type.Enum(['completed', 'incomplete']),
    incomplete_details: Type.Union([
      Type.Object({ reason: Type.Enum(['max_output_tokens', 'content_filter']) }),
      Type.Null(),
    ]),
    model: Type.String(),
    output: Type.Array(outputItem, { description: 'The reasoning, texts and tool calls of the reply, in order.' }),
    usage: Type.Object({
      input_tokens: Type.Integer(),
      input_tokens_details: Type.Object({
        cached_tokens: Type.Integer({ description: "Part of input_tokens: read from the vendor's cache." }),
        cache_write_tokens: Type.Integer({ description: 'Part of input_tokens: written to it.' }),
      }),
      output_tokens: Type.Integer(),
      output_tokens_details: Type.Object({
        reasoning_tokens: Type.Integer({ description: 'Part of output_tokens. 0 if the model does not report them.' }),
      }),
      total_tokens: Type.Integer(),
    }),
    ...repeated,
    ...constant,
  },
  { examples: [responsesExample.response] },
)
