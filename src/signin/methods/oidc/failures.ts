import { AuthorizationResponseError, ResponseBodyError } from 'openid-client'
import { Problem } from '../../../platform/problems.ts'

/** Errors by which a provider reports its own failure. */
const providerFaults = new Set(['server_error', 'temporarily_unavailable'])

/** The Problem of a callback that is refused before the provider has been called. */
export function refusedAnswer(error: unknown, name: string): Problem {
  if (!(error instanceof AuthorizationResponseError)) {
    return new Problem(
      'sign_in_failed',
      'This callback does not belong to a sign-in that was started here. Start again.',
      {
        cause: error,
      },
    )
  }
  if (providerFaults.has(error.error)) return failedProvider(error, name)
  const reason =
    error.error === 'access_denied'
      ? `The sign-in was cancelled or refused at “${name}”. Start again, or ask its administrator for access.`
      : `“${name}” refused the sign-in. Start again. If it fails again, tell the administrator of this service.`
  return new Problem('sign_in_failed', reason, { cause: error })
}

/** The Problem of a provider that failed, took too long, or sent an invalid response. */
export function failedProvider(error: unknown, name: string): Problem {
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant') {
    return new Problem('sign_in_failed', 'The sign-in has expired, or was completed before. Start again.', {
      cause: error,
    })
  }
  return new Problem('provider_failed', `“${name}” does not respond correctly. Try again in a moment.`, {
    cause: error,
  })
}

/**
 * The log may contain only error codes of the standards, and our own and the libraries' messages. Never a provider's
 * text, which may hold a token.
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
