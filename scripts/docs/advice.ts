import type { ProblemCode } from '../../src/platform/problems.ts'

/** What the developer of a client is to do about each code. */
export const advice: Readonly<Record<ProblemCode, string>> = {
  malformed_request: 'Send a complete HTTP/1.1 request; look for a proxy or a client that cuts it short.',
  sign_in_failed: 'Start the sign-in again from the sign-in page, in the same browser and within half an hour.',
  malformed_json: 'Send one JSON object, encoded as UTF-8, and let a JSON library write it.',
  missing_field: 'Add the field that `field` names.',
  invalid_field: 'Correct the field that `field` names; the reason says what it must be.',
  unknown_field: 'Remove or rename the field that `field` names; the reason proposes a name where one is close.',
  context_length_exceeded:
    'Shorten `instructions` or `input`, ask for fewer `max_output_tokens`, or take a model with a larger context. `POST /v1/count_tokens` tells what a text counts.',
  can_never_fit_limit:
    'Ask for less in one request, or have the operator raise the tokens per minute of the account. Waiting does not help.',
  missing_key: 'Send the header `Authorization: Bearer <key>`.',
  invalid_key: 'Copy the key again, all of it. The checksum at its end shows most typing errors.',
  expired_key: 'Use the key that took its place, or ask the operator for a new one.',
  revoked_key: 'Ask the operator for a new key. If you did not expect this, the key may have leaked.',
  not_signed_in: 'Sign in, then send the request again with the `session` cookie.',
  no_billing_account: 'Have the operator create a key for an account that is open.',
  insufficient_credit:
    'With `Retry-After`, wait for the requests in flight: what they do not use comes back. Without it, ask for fewer `max_output_tokens` or have the operator add credit or raise the monthly limit.',
  key_in_browser:
    'Call the API from your server and keep the key there. A key that has been in a browser must be taken as known to others: have it revoked.',
  forbidden: 'Ask a partner for access. For a record, the same answer is given whether it exists or not.',
  cross_site_request:
    'Send changes from a page of this service: with `Sec-Fetch-Site: same-origin`, or an `Origin` equal to `base_url`.',
  sign_in_refused: 'Ask a partner for an invitation, or sign in with another account.',
  model_not_allowed:
    'Take one of the models that `GET /v1/models` lists for this key, or have the operator allow this one.',
  unknown_model: 'Take one of the models that `GET /v1/models` lists.',
  not_found: 'Check the path. `/docs` lists the addresses.',
  method_not_allowed: 'Use one of the methods in the `Allow` header.',
  request_timeout: 'Send the request again, faster; look at the network between the two.',
  idempotency_in_progress:
    'Wait and send the same request again: it then gets the answer of the first one, free of charge.',
  conflict: 'Read the record again and decide anew; the reason says what stands in the way.',
  stale_version:
    'Read the record again, repeat the change on what it says now, and send the new version in `If-Match`.',
  request_too_large: 'Send less in one request. The operator sets the limit: `limits.request_bytes`.',
  unsupported_media_type: 'Send the header `Content-Type: application/json`.',
  idempotency_mismatch: 'Use a new `Idempotency-Key` for every new request, and the same body when repeating one.',
  precondition_required: 'Send the `ETag` of the record that the change is based on in `If-Match`.',
  rate_limit_exceeded:
    'Wait for the seconds in `Retry-After`; that is exactly enough. `limit` says which limit it was, and the `x-ratelimit-*` headers of every answer say what is left before it is met.',
  too_many_sign_ins:
    'Wait for the seconds in `Retry-After`. Where many people share a network, the operator raises `sign_in.starts_per_minute`.',
  headers_too_large: 'Send fewer or shorter headers.',
  internal: 'Try again later. If it stays, give the operator the `request_id`.',
  upstream_failed: 'Try again. If it stays, tell the operator: the upstream of the model has a fault.',
  provider_failed: 'Try again shortly. If it stays, tell the operator: the OpenID provider has a fault.',
  overloaded: 'Wait for the seconds in `Retry-After`, and send fewer requests at the same time.',
  unavailable: 'Wait for the seconds in `Retry-After` and send the request again.',
  upstream_timeout: 'Try again, or ask for fewer `max_output_tokens`.',
}
