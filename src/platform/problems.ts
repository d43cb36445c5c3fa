/**
 * The one error table: code → status, whether the same request may succeed later, and what the code means.
 *
 * Code throws `new Problem(code, reason, …)`; one handler in `http.ts` speaks HTTP. `docs/errors.md` is generated from
 * this table. Sections 7 and 8 of the specification; 402 is for money and 429 for pace.
 */
export const problems = {
  malformed_request: { status: 400, retry: false, meaning: 'What came is not HTTP, or broke off in the middle.' },
  sign_in_failed: { status: 400, retry: false, meaning: 'The sign-in could not be completed. Start it again.' },
  malformed_json: { status: 400, retry: false, meaning: 'The body is not valid JSON in UTF-8, or not an object.' },
  missing_field: { status: 400, retry: false, meaning: 'A required field is not there.' },
  invalid_field: { status: 400, retry: false, meaning: 'A field has the wrong type or is out of its bounds.' },
  unknown_field: { status: 400, retry: false, meaning: 'The body has a field that this endpoint does not know.' },
  context_length_exceeded: {
    status: 400,
    retry: false,
    meaning: 'The prompt and max_output_tokens together are more than the context of the model.',
  },
  can_never_fit_limit: {
    status: 400,
    retry: false,
    meaning: 'The request needs more tokens than the account may use in a whole minute.',
  },
  missing_key: { status: 401, retry: false, meaning: 'There is no Authorization header with a Bearer key.' },
  invalid_key: { status: 401, retry: false, meaning: 'The key is not one of ours: mistyped, cut off or made up.' },
  expired_key: { status: 401, retry: false, meaning: 'The key has passed its expiry date, or was rotated out.' },
  revoked_key: { status: 401, retry: false, meaning: 'The key was revoked.' },
  not_signed_in: {
    status: 401,
    retry: false,
    meaning: 'Nobody is signed in, or the session has ended. Sign in first.',
  },
  no_billing_account: { status: 402, retry: false, meaning: 'The key bills no account, or its account is closed.' },
  insufficient_credit: {
    status: 402,
    retry: false,
    meaning:
      'The credit left does not cover the most that this request could cost. With Retry-After, requests in flight hold it.',
  },
  key_in_browser: { status: 403, retry: false, meaning: 'A browser sent the key. Keys belong on a server.' },
  model_not_allowed: { status: 403, retry: false, meaning: 'The key may not use this model.' },
  forbidden: { status: 403, retry: false, meaning: 'Who is signed in may not see or change this.' },
  cross_site_request: { status: 403, retry: false, meaning: 'The change was not sent by a page of this service.' },
  sign_in_refused: { status: 403, retry: false, meaning: 'The person may not sign in here.' },
  unknown_model: { status: 404, retry: false, meaning: 'No model has this id, or it has no price.' },
  not_found: { status: 404, retry: false, meaning: 'Nothing is at this address.' },
  method_not_allowed: { status: 405, retry: false, meaning: 'The address exists, but not for this method.' },
  request_timeout: { status: 408, retry: true, meaning: 'The request did not arrive whole in time.' },
  idempotency_in_progress: {
    status: 409,
    retry: true,
    meaning: 'A request with the same Idempotency-Key is still running.',
  },
  conflict: { status: 409, retry: false, meaning: 'What is there already, or its state, does not allow this change.' },
  stale_version: { status: 412, retry: false, meaning: 'The record was changed since it was read. Read it again.' },
  request_too_large: { status: 413, retry: false, meaning: 'The body is larger than the limit.' },
  unsupported_media_type: { status: 415, retry: false, meaning: 'The body is not application/json.' },
  idempotency_mismatch: {
    status: 422,
    retry: false,
    meaning: 'The Idempotency-Key was used with another body in the last 24 hours.',
  },
  precondition_required: {
    status: 428,
    retry: false,
    meaning: 'A change needs If-Match with the version it is based on.',
  },
  rate_limit_exceeded: {
    status: 429,
    retry: true,
    meaning: 'The account has used up its requests or tokens per minute. Wait for Retry-After.',
  },
  too_many_sign_ins: {
    status: 429,
    retry: true,
    meaning: 'Too many sign-ins were begun from one network. Wait for Retry-After.',
  },
  headers_too_large: { status: 431, retry: false, meaning: 'The headers are larger than 16 KiB.' },
  internal: { status: 500, retry: true, meaning: 'A fault of ours. The request id finds it in the log.' },
  upstream_failed: {
    status: 502,
    retry: true,
    meaning: 'The model behind Tollgate failed. Nothing was charged but what a stream had sent.',
  },
  provider_failed: { status: 502, retry: true, meaning: 'The OpenID provider failed or answered something wrong.' },
  overloaded: {
    status: 503,
    retry: true,
    meaning: 'More work is waiting than the model can take. Wait for Retry-After.',
  },
  unavailable: {
    status: 503,
    retry: true,
    meaning:
      'The database or the model is away for the moment. Nothing was charged but what a stream had sent, unless the reason says that only the ledger can tell. Wait for Retry-After.',
  },
  upstream_timeout: { status: 504, retry: true, meaning: 'The model behind Tollgate did not answer in time.' },
} as const satisfies Record<string, { status: number; retry: boolean; meaning: string }>

export type ProblemCode = keyof typeof problems

/** What a problem may carry besides its code and its reason. All of it is public except `cause`. */
export interface ProblemDetails {
  /** The field of the request at fault, as a path: `metadata.client_id`. */
  readonly field?: string
  /** Which limit was met, its value and what is left. */
  readonly limit?: { readonly name: string; readonly value: number; readonly remaining: number }
  /** Whole seconds after which the same request may succeed. */
  readonly retryAfter?: number
  /** Of a change that came too late: what is there now, beside the error in the answer. */
  readonly current?: object
  /** For the log, never for the caller. */
  readonly cause?: unknown
}

/** A refusal or a fault with a code of the table and a public reason: one sentence that says what to do. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly details: ProblemDetails

  constructor(code: ProblemCode, reason: string, details: ProblemDetails = {}) {
    super(reason, { cause: details.cause })
    this.name = 'Problem'
    this.code = code
    this.details = details
  }
}

/** A fault of set-up or of the command line: one line for the operator, exit status 1, no stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}
