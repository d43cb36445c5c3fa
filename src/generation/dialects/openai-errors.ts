import { Type } from 'typebox'
import type { ErrorDetails } from './dialect.ts'

/** The body of an error of OpenAI's API. */
export const openAiError = Type.Object({
  error: Type.Object({
    message: Type.String({ description: 'For people: what is wrong and what to do.' }),
    type: Type.String(),
    param: Type.Union([Type.String(), Type.Null()], { description: 'The field at fault.' }),
    code: Type.String({ description: 'The code of the error.' }),
  }),
})

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

/** Our codes for which OpenAI has a different code. */
const codes: Readonly<Record<string, string>> = {
  missing_key: 'invalid_api_key',
  invalid_key: 'invalid_api_key',
  unknown_model: 'model_not_found',
}

export function openAiErrorOf({ code, reason, field }: ErrorDetails, status: number) {
  const type = types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
  return { message: reason, type, param: field ?? null, code: codes[code] ?? code }
}

/** The error format of both OpenAI APIs. */
export const openAiFormat = {
  api: 'openai' as const,
  errorBody: (details: ErrorDetails, status: number) => ({ error: openAiErrorOf(details, status) }),
  headers: (requestId: string) => ({ 'x-request-id': requestId }),
}
