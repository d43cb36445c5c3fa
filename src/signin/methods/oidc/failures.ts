import { AuthorizationResponseError, ResponseBodyError } from 'openid-client'
import { Problem } from '../../../platform/problems.ts'

/** Where the fault lies when a provider says that it has one. */
const providerFaults = new Set(['server_error', 'temporarily_unavailable'])

/** The Problem of an answer that came back through the browser, before the provider was asked anything. */
export function refusedAnswer(error: unknown, name: string): Problem {
  if (!(error instanceof AuthorizationResponseError)) {
    return new Problem('sign_in_failed', 'This answer is not for a sign-in that was started here. Start again.', {
      cause: error,
    })
  }
  if (providerFaults.has(error.error)) return failedProvider(error, name)
  const reason =
    error.error === 'access_denied'
      ? `The sign-in was cancelled or refused at “${name}”. Start again, or ask whoever runs it to let you in.`
      : `“${name}” refused the sign-in. Start again; if it stays so, tell whoever runs this service.`
  return new Problem('sign_in_failed', reason, { cause: error })
}

/** The Problem of a provider that failed, did not answer in time, or answered something wrong. */
export function failedProvider(error: unknown, name: string): Problem {
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant') {
    return new Problem('sign_in_failed', 'The sign-in took too long, or was completed before. Start again.', {
      cause: error,
    })
  }
  return new Problem('provider_failed', `“${name}” does not answer as it should. Try again in a moment.`, {
    cause: error,
  })
}

/**
 * What the log may say of a failure: error codes of the standards, words of ours and of the libraries; never what a
 * provider sent, which may have a token in it.
 */
export function describeFailure(error: unknown): Record<string, string | undefined> {
  if (!(error instanceof Error)) return { failure: 'unknown' }
  const { name, message } = error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const said =
    error instanceof AuthorizationResponseError || error instanceof ResponseBodyError ? error.error : undefined
  const below = error.cause instanceof Error ? error.cause.message : undefined
  return { failure: name, code, reason: below ?? message, provider_error: said?.slice(0, 100) }
}
