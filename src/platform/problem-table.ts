interface ProblemEntry {
  /** The HTTP status. */
  readonly status: number
  /** Whether the same request may succeed later. */
  readonly retry: boolean
  readonly meaning: string
  readonly remedy: string
}

/**
 * All error codes of the API and the portal: sections 7 and 8 of the specification. 402 means credit, 429 rate limits.
 * `docs/errors.md` and the page /docs/errors are generated from this table.
 */
export const problems = {
  malformed_request: {
    status: 400,
    retry: false,
    meaning: 'The request is incomplete, or not valid HTTP.',
    remedy: 'Send a complete HTTP/1.1 request. Check whether a proxy or the client truncates it.',
  },
  sign_in_failed: {
    status: 400,
    retry: false,
    meaning: 'The sign-in could not be completed.',
    remedy: 'Start it again from the sign-in page, and complete it in the same browser within half an hour.',
  },
  malformed_json: {
    status: 400,
    retry: false,
    meaning: 'The body is not a JSON object in UTF-8, or is nested too deeply.',
    remedy: 'Send one JSON object, encoded as UTF-8, and use a JSON library to write it.',
  },
  missing_field: {
    status: 400,
    retry: false,
    meaning: 'A required field is missing.',
    remedy: 'Add the field that `field` names.',
  },
  invalid_field: {
    status: 400,
    retry: false,
    meaning: 'A field has the wrong type, is out of range, or has a value that is not supported.',
    remedy: 'Correct the field that `field` names. The reason states what it must be.',
  },
  unknown_field: {
    status: 400,
    retry: false,
    meaning: 'The body or the query has a field that this endpoint does not know.',
    remedy: 'Remove or rename the field that `field` names. The reason suggests a similar name if there is one.',
  },
  context_length_exceeded: {
    status: 400,
    retry: false,
    meaning: "The prompt and `max_output_tokens` together exceed the model's context.",
    remedy:
      'Shorten `instructions` or `input`, lower `max_output_tokens`, or use a model with a larger context. `POST /v1/count_tokens` counts the tokens of a text.',
  },
  can_never_fit_limit: {
    status: 400,
    retry: false,
    meaning: 'The request needs more tokens than the account or the key may use in a minute.',
    remedy:
      'Shorten the input, lower `max_output_tokens`, or ask the operator to raise the tokens per minute of the account or the key. Waiting does not help.',
  },
  missing_key: {
    status: 401,
    retry: false,
    meaning: 'The request has no API key.',
    remedy: 'Send the header `Authorization: Bearer <key>`.',
  },
  invalid_key: {
    status: 401,
    retry: false,
    meaning: 'The API key is incomplete, mistyped or unknown.',
    remedy:
      'Copy all 66 characters of the key, starting with `tg_`. The last six are a checksum that reveals most typos.',
  },
  expired_key: {
    status: 401,
    retry: false,
    meaning: 'The API key has expired, or was rotated and its overlap has ended.',
    remedy: 'Use the key that replaced it, or ask the operator for a new one.',
  },
  revoked_key: {
    status: 401,
    retry: false,
    meaning: 'The API key was revoked.',
    remedy: 'Ask the operator for a new key. If you did not expect this, the key may have leaked.',
  },
  not_signed_in: {
    status: 401,
    retry: false,
    meaning: 'The request has no session, or its session has ended.',
    remedy: 'Sign in, then send the request again with the `session` cookie.',
  },
  no_billing_account: {
    status: 402,
    retry: false,
    meaning: 'The API key has no account, or its account is closed.',
    remedy: 'Ask the operator for a key from an open account.',
  },
  insufficient_credit: {
    status: 402,
    retry: false,
    meaning:
      "The account's remaining credit, or what is left of a budget of the key or of a tag of the request, does not cover the maximum cost of this request. With `Retry-After`, waiting helps: requests in flight hold the credit, or the budget will be renewed.",
    remedy:
      'With `Retry-After`, wait: unused credit is released when requests in flight finish, and a budget is renewed when its next period begins. Without it, lower `max_output_tokens`, or ask the operator to add credit or to raise the monthly limit or the budget.',
  },
  key_in_browser: {
    status: 403,
    retry: false,
    meaning: 'A browser sent the API key. Keys belong on a server.',
    remedy: 'Call the API from your server. Revoke any key that has been in a browser: others may have seen it.',
  },
  model_not_allowed: {
    status: 403,
    retry: false,
    meaning: 'The API key may not use this model.',
    remedy: 'Use a model that `GET /v1/models` lists for this key, or ask the operator to allow this one.',
  },
  forbidden: {
    status: 403,
    retry: false,
    meaning: 'The signed-in person may not see or change this.',
    remedy: 'Ask a partner for access. For records, the response is the same whether the record exists or not.',
  },
  cross_site_request: {
    status: 403,
    retry: false,
    meaning: 'The change was not sent by a page of this service.',
    remedy:
      'Send changes from a page of this service: with `Sec-Fetch-Site: same-origin`, or an `Origin` equal to `base_url`.',
  },
  sign_in_refused: {
    status: 403,
    retry: false,
    meaning: 'This person may not sign in.',
    remedy: 'Ask a partner for an invitation, or sign in with another account.',
  },
  recent_sign_in_required: {
    status: 403,
    retry: false,
    meaning: 'The change needs a sign-in within the last 10 minutes.',
    remedy:
      'Confirm who you are with `POST /me/confirmation`, or sign in again at `/signin?again=1`. Then send the request again with the new cookie.',
  },
  unknown_model: {
    status: 404,
    retry: false,
    meaning: 'No model has this id or alias, or the model has no price.',
    remedy: 'Use a model that `GET /v1/models` lists.',
  },
  not_found: {
    status: 404,
    retry: false,
    meaning: 'Nothing exists at this URL.',
    remedy: 'Check the path. `/docs` lists the URLs of the API.',
  },
  method_not_allowed: {
    status: 405,
    retry: false,
    meaning: 'The URL does not support this method.',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  request_timeout: {
    status: 408,
    retry: true,
    meaning: 'The request did not arrive completely in time.',
    remedy: 'Send it again. If the error persists, check the network between you and the server.',
  },
  idempotency_in_progress: {
    status: 409,
    retry: true,
    meaning: 'A request with the same `Idempotency-Key` is still running.',
    remedy:
      'Wait for `Retry-After` and send the same request again. It then receives the stored reply, free of charge.',
  },
  conflict: {
    status: 409,
    retry: false,
    meaning: 'The current state does not allow this change.',
    remedy: 'Read the current state again. The reason states what prevents the change.',
  },
  stale_version: {
    status: 412,
    retry: false,
    meaning: 'The record has changed since it was read.',
    remedy: 'Read the record again, repeat the change on its current version, and send that version in `If-Match`.',
  },
  request_too_large: {
    status: 413,
    retry: false,
    meaning: 'The body is larger than the limit.',
    remedy:
      'Send less in one request, or ask the operator to raise `limits.request_bytes`, or `limits.file_bytes` for images and documents.',
  },
  unsupported_media_type: {
    status: 415,
    retry: false,
    meaning: 'The body is not uncompressed `application/json`.',
    remedy: 'Send the header `Content-Type: application/json`, and no `Content-Encoding`.',
  },
  idempotency_mismatch: {
    status: 422,
    retry: false,
    meaning: 'The `Idempotency-Key` was used with a different body in the last 24 hours.',
    remedy: 'Use a new `Idempotency-Key` for every new request, and the same body for a retry.',
  },
  precondition_required: {
    status: 428,
    retry: false,
    meaning: 'The header `If-Match`, with the version that the change is based on, is missing.',
    remedy: 'Send the `ETag` of the record in `If-Match`.',
  },
  rate_limit_exceeded: {
    status: 429,
    retry: true,
    meaning: 'The account or the key has reached its limit of requests or tokens per minute.',
    remedy:
      'Wait for the number of seconds in `Retry-After`. `limit` names the limit; the `x-ratelimit-*` headers of every response show what remains.',
  },
  too_many_sign_ins: {
    status: 429,
    retry: true,
    meaning: 'Too many sign-ins were started from one network.',
    remedy:
      'Wait for the number of seconds in `Retry-After`. If many people share a network, the operator can raise `sign_in.starts_per_minute`.',
  },
  headers_too_large: {
    status: 431,
    retry: false,
    meaning: 'The headers are larger than 16 KiB.',
    remedy: 'Send fewer or shorter headers.',
  },
  internal: {
    status: 500,
    retry: true,
    meaning: 'Internal error. Quote the request id to support.',
    remedy: 'Try again later. If the error persists, give the `request_id` to the operator.',
  },
  upstream_failed: {
    status: 502,
    retry: true,
    meaning: 'The model failed. Nothing was charged, except the received part of a stream.',
    remedy:
      "Try again. If the error persists, tell the operator that the model's upstream is failing. With " +
      '`x-should-retry: false`, the model does not accept the request: change it.',
  },
  provider_failed: {
    status: 502,
    retry: true,
    meaning: 'The OpenID provider failed or sent an invalid response.',
    remedy: 'Try again shortly. If the error persists, tell the operator that the OpenID provider is failing.',
  },
  sms_failed: {
    status: 502,
    retry: true,
    meaning: 'The SMS gateway did not accept the text message.',
    remedy: 'Try again shortly, or use another second factor. If the error persists, tell the operator.',
  },
  overloaded: {
    status: 503,
    retry: true,
    meaning: 'Too many requests, or too many long ones, are waiting or being handled.',
    remedy: 'Wait for the number of seconds in `Retry-After`, and send fewer concurrent requests.',
  },
  unavailable: {
    status: 503,
    retry: true,
    meaning:
      'The database or the model is temporarily unavailable. Nothing was charged, except the received part of a stream. In the rare case that the outcome of a charge is unknown, the reason says so; look it up in the ledger.',
    remedy: 'Wait for the number of seconds in `Retry-After`, then send the request again.',
  },
  upstream_timeout: {
    status: 504,
    retry: true,
    meaning: 'The model did not respond in time. Nothing was charged, except the received part of a stream.',
    remedy: 'Try again, or lower `max_output_tokens`.',
  },
} as const satisfies Record<string, ProblemEntry>

export type ProblemCode = keyof typeof problems
