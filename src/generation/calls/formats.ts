/** The formats in which features that add routes to /v1 refuse requests and describe that. */
export { openAiError, openAiFormat } from '../dialects/openai.ts'
export { headersOf } from '../delivery.ts'
export { refusalsAs, refusalsOfCallers } from '../operations.ts'
