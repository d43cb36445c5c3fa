/** The formats in which features that add routes to /v1 refuse requests and describe that. */
export { anthropicMessages as anthropicFormat } from '../dialects/anthropic/anthropic-messages.ts'
export { anthropicError, messagesRequest } from '../dialects/anthropic/schema.ts'
export { openAiError, openAiFormat } from '../dialects/openai.ts'
export { headersOf } from '../delivery.ts'
export { refusalsAs, refusalsOfCallers } from '../operations.ts'
