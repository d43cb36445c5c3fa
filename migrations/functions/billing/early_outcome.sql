-- Decides a request before any limit does, by its account and by what an earlier request with the same idempotency key has left. Null: neither
-- decides it.
create or replace function early_outcome(p_status account_status, p_kept idempotency, p_hash text) returns text language sql immutable
return case
  when p_status is distinct from 'open' then 'no_billing_account'
  when (p_kept).request_hash <> p_hash then 'mismatch'
  when (p_kept).body is not null then 'replay'
  when (p_kept).hold_id is not null then 'in_progress' end;
