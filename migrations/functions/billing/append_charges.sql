-- Appends charges of requests that an allowance admitted to the ledger. What they cost stays set aside for the instance until
-- fold_charges() adds them to the sums. Locks no account. p_terms: as in write_charges().
create or replace function append_charges(p_instance uuid, p_batch bigint, p_charges timed_charge[], p_now timestamptz default null,
  p_terms jsonb default null)
returns void
language plpgsql
set search_path from current
as $$
declare
  v_now constant timestamptz := coalesce(p_now, clock_timestamp());
begin
  perform write_charges(v_now, note_batch(p_instance, p_batch, cardinality(p_charges), v_now), p_charges, p_terms);
end $$;
drop function if exists append_charges(uuid, bigint, timed_charge[], timestamptz);
